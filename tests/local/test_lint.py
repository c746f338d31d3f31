"""`headrace lint`: what a deployment would say, without a server, and what it would not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chalicelib.local.lint import lint
from chalicelib.profile import Profile
from tests.bpmn.models import END, START, flow, model, timer_event
from tests.local.serving import run
from tests.play import DIAGRAMS

MESSAGE = (
    '<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/>'
    "</extensionElements></message>"
)
CATCH = (
    '<intermediateCatchEvent id="a" name="Paid"><messageEventDefinition messageRef="m"/>'
    "</intermediateCatchEvent>"
)
GATEWAY = '<exclusiveGateway id="g"/>'
TIMER = timer_event("boundaryEvent", "timeDuration", "PT1H", 'attachedToRef="r"').replace(
    'id="a"', 'id="late"'
)


Told = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    def judge(xml: bytes, *, strict: bool = False) -> tuple[int, list[str]]:
        file = tmp_path / "model.bpmn"
        file.write_bytes(xml)
        code = lint([file], Profile.ZENBPM, strict=strict)
        return code, capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines()

    return judge


def waiting(element: str, *, id_: str = "a", beside: str = "") -> bytes:
    return model(
        START + element + END + flow("start", id_) + flow(id_, "end") + beside, around=MESSAGE
    )


def test_a_model_without_a_fault_says_nothing_and_ends_with_0(told: Told) -> None:
    assert (0, []) == told((DIAGRAMS / "sequence.bpmn").read_bytes())


def test_all_faults_are_told_by_file_and_line_and_end_with_1(told: Told) -> None:
    body = START + '\n<serviceTask id="t" name="Pay"/>\n' + flow("start", "t") + flow("t", "gone")

    code, lines = told(model(body))

    assert 1 == code
    assert lines[0].startswith('model.bpmn:2: error: serviceTask "t" named "Pay" (line 2): exp')
    assert lines[1].startswith('model.bpmn:3: error: sequenceFlow "t-gone" (line 3): targetRef')


def test_a_start_that_no_calendar_has_is_a_fault(told: Told) -> None:
    start = timer_event("startEvent", "timeDate", "=order.due", 'name="When due"')

    code, lines = told(model(f"\n{start}{END}{flow('a', 'end')}"))

    assert 1 == code
    place = 'model.bpmn:2: error: startEvent "a" named "When due" (line 2): timer: expected a text'
    assert lines[0].startswith(place)


@pytest.mark.parametrize(
    ("one", "other", "is_warned"),
    [
        ('<errorEventDefinition errorRef="e"/>', '<errorEventDefinition errorRef="e"/>', True),
        ('<errorEventDefinition errorRef="e"/>', "<errorEventDefinition/>", False),
        ("<escalationEventDefinition/>", "<errorEventDefinition/>", False),
        ("<escalationEventDefinition/>", "<escalationEventDefinition/>", True),
        *(
            ('<messageEventDefinition messageRef="m"/>', f"<{tag}/>", is_warned)
            for tag, is_warned in (
                ('messageEventDefinition messageRef="m"', True),
                ('signalEventDefinition signalRef="s"', False),
            )
        ),
        ('<signalEventDefinition signalRef="s"/>', '<signalEventDefinition signalRef="s"/>', False),
    ],
)
@pytest.mark.parametrize("place", ["boundary", "subprocess"])
def test_events_that_wait_for_the_same_in_one_place_are_warned_of(
    told: Told, place: str, one: str, other: str, is_warned: bool
) -> None:
    if place == "boundary":
        events = [
            f'<boundaryEvent id="{id_}" attachedToRef="t">{about}</boundaryEvent>'
            for id_, about in (("x", one), ("y", other))
        ]
    else:
        events = [
            f'<subProcess id="s_{id_}" triggeredByEvent="true"><startEvent id="{id_}">{about}'
            "</startEvent></subProcess>"
            for id_, about in (("x", one), ("y", other))
        ]
    known = '<error id="e" errorCode="500"/><signal id="s" name="alarm"/>'
    body = f'{START}<task id="t"/>{END}{flow("start", "t")}{flow("t", "end")}{"".join(events)}'

    _, lines = told(model(body, around=MESSAGE + known))

    found = [line for line in lines if "waits for the same as" in line]
    assert is_warned == (len(found) == 1)
    assert all('"y" (line 1): it waits for the same as "x"' in line for line in found)


def test_starts_of_all_processes_of_a_file_are_judged(told: Told) -> None:
    start = timer_event("startEvent", "timeDate", "=order.due")
    one, other = (
        model(start + END + flow("a", "end"), process=f'id="{id_}" isExecutable="true"').decode()
        for id_ in ("one", "other")
    )
    more = other[other.index("<process") : other.index("</definitions>")]

    _, lines = told(one.replace("</definitions>", f"\n{more}</definitions>").encode())

    assert [f"model.bpmn:{n}: error: startEvent" for n in (1, 2)] == [
        line.partition(' "a"')[0] for line in lines
    ]


@pytest.mark.parametrize(
    ("xml", "what"),
    [
        (waiting(CATCH), 'intermediateCatchEvent "a" named "Paid" (line 1): it waits without'),
        (waiting('<receiveTask id="r" messageRef="m"/>', id_="r"), 'receiveTask "r"'),
        (
            model(
                START
                + '<eventBasedGateway id="e"/>'
                + CATCH
                + END
                + flow("start", "e")
                + flow("e", "a")
                + flow("a", "end"),
                around=MESSAGE,
            ),
            'eventBasedGateway "e" (line 1): it waits',
        ),
        (
            waiting(
                '<subProcess id="s"><startEvent id="b"/><receiveTask id="r" messageRef="m"/>'
                + flow("b", "r")
                + "</subProcess>",
                id_="s",
            ),
            'receiveTask "r"',
        ),
        (
            model(START + GATEWAY + END + flow("start", "g") + flow("g", "end", "=1 > 2")),
            'sequenceFlow "g-end" (line 1): its condition "1 &gt; 2" can never be true',
        ),
        (
            model(START + GATEWAY + END + flow("start", "g") + flow("g", "end", '="yes"')),
            "can never be true",
        ),
        (
            model(
                START
                + GATEWAY
                + END
                + '<endEvent id="z"/>'
                + flow("start", "g")
                + flow("g", "end", "=true")
                + flow("g", "z", "=x &gt; 1")
            ),
            'sequenceFlow "g-z" (line 1): it is never taken: "g-end" before it always is',
        ),
        (
            waiting(
                '<serviceTask id="a"><extensionElements><zeebe:taskDefinition type="w"/>'
                "</extensionElements><multiInstanceLoopCharacteristics><extensionElements>"
                '<zeebe:loopCharacteristics inputCollection="=xs" outputCollection="ys" '
                'outputElement="=y"/></extensionElements></multiInstanceLoopCharacteristics>'
                "</serviceTask>"
            ),
            'serviceTask "a" (line 1): every round adds to "ys": the variables of one scope may',
        ),
        (
            waiting(
                '<scriptTask id="a"><extensionElements><zeebe:script expression="=append(log, 1)" '
                'resultVariable="log"/></extensionElements></scriptTask>'
            ),
            'scriptTask "a" (line 1): "log" grows each time',
        ),
    ],
)
def test_what_to_look_at_again_is_a_warning_that_counts_if_it_is_asked_to(
    told: Told, xml: bytes, what: str
) -> None:
    code, lines = told(xml)

    assert 0 == code
    assert 1 == len(lines)
    assert lines[0].startswith("model.bpmn:1: warning: ")
    assert what.replace("&gt;", ">") in lines[0]
    assert (1, lines) == told(xml, strict=True)


@pytest.mark.parametrize(
    "xml",
    [
        waiting(
            '<receiveTask id="r" messageRef="m"/>',
            id_="r",
            beside=TIMER + '<endEvent id="z"/>' + flow("late", "z"),
        ),
        waiting(
            CATCH,
            beside='<subProcess id="s" triggeredByEvent="true"><startEvent id="b">'
            "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
            "</startEvent></subProcess>",
        ),
        model(START + GATEWAY + END + flow("start", "g") + flow("g", "end", "=x")),
        model(START + GATEWAY + END + flow("start", "g") + flow("g", "end", "=now() = null")),
    ],
)
def test_what_is_bounded_or_may_be_true_is_no_warning(told: Told, xml: bytes) -> None:
    assert (0, []) == told(xml, strict=True)


def test_as_a_person_types_it(tmp_path: Path) -> None:
    (tmp_path / "good.bpmn").write_bytes((DIAGRAMS / "sequence.bpmn").read_bytes())
    (tmp_path / "bad.bpmn").write_bytes(model(END))

    good = run("lint", "good.bpmn", "--strict", folder=tmp_path)
    bad = run("lint", "good.bpmn", "bad.bpmn", "--profile", "priostack", folder=tmp_path)
    gone = run("lint", "gone.bpmn", "bad.bpmn", folder=tmp_path)

    assert (0, "", "") == (good.returncode, good.stdout, good.stderr)
    assert 1 == bad.returncode
    assert 'bad.bpmn:1: error: process "order" (line 1): expected a start event' in bad.stdout
    assert 1 == gone.returncode
    unread = (
        "gone.bpmn: error: expected a file to read, found: No such file or directory\nbad.bpmn:1"
    )
    assert gone.stdout.startswith(unread)


@pytest.mark.parametrize(
    ("xml", "found"),
    [
        (b"<definitions>\n<process>\n</definitions>", "model.bpmn:3: error: expected XML, found"),
        (b"<definitions>\n<z:x>\n</definitions>\n<more/>", "model.bpmn:3: error: expected XML, "),
        (b"<a>\n" * 130 + b"</a>" * 130, "model.bpmn:121: error: expected at most 120 levels"),
        (b"\n<html/>", "model.bpmn:2: error: expected a BPMN model"),
        (b"<!DOCTYPE a []>\n<a/>", "model.bpmn: error: expected no DOCTYPE"),
    ],
)
def test_what_is_no_model_is_told_by_its_line(told: Told, xml: bytes, found: str) -> None:
    code, lines = told(xml)

    assert (1, 1) == (code, len(lines))
    assert lines[0].startswith(found)


def test_a_file_of_more_processes_than_are_deployed_at_once_is_a_fault(told: Told) -> None:
    one = '<process id="p{0}" isExecutable="true"><startEvent id="s{0}"/></process>'
    many = "".join(one.format(n) for n in range(31))

    code, lines = told(model("", process='id="x" isExecutable="false"', around=many))

    assert 1 == code
    assert ["model.bpmn: error: expected at most 30 executable processes, found 31"] == lines


def test_a_start_that_no_calendar_has_is_told_beside_all_other_faults(told: Told) -> None:
    start = timer_event("startEvent", "timeDate", "=order.due", 'name="When due"')

    code, lines = told(model(f"\n{start}\n<serviceTask id='t'/>\n{flow('a', 't')}"))

    assert (1, 2) == (code, len(lines))
    assert lines[0].startswith('model.bpmn:2: error: startEvent "a" named "When due" (line 2): ti')
    assert lines[1].startswith('model.bpmn:3: error: serviceTask "t" (line 3): expected a job type')
