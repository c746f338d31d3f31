"""More waits than one transaction can write are refused; what is close to that is warned of."""

from __future__ import annotations

import pytest

from chalicelib import bpmn
from chalicelib.bpmn.crowds import WRITES_MAX
from chalicelib.bpmn.lint import warnings_of
from chalicelib.engine.limits import ACTIONS_MAX
from chalicelib.profile import Profile
from tests.bpmn.models import END, START, flow, model, refusal_of

TASK = (
    '<serviceTask id="a" name="Wait">{0}<extensionElements><zeebe:taskDefinition type="w"/>'
    "</extensionElements></serviceTask>"
)
SIGNAL = '<signalEventDefinition signalRef="s{0}"/>'
AFTER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
EVERY = "<timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition>"
ROUNDS = '<standardLoopCharacteristics loopMaximum="2"/>'


def on_activity(definition: str, count: int, body: str = TASK.format("")) -> bytes:
    events = "".join(
        f'<boundaryEvent id="b{n}" attachedToRef="a">{definition.format(n)}</boundaryEvent>'
        + flow(f"b{n}", "end")
        for n in range(count)
    )
    return _around(body + events + flow("start", "a") + flow("a", "end"), count)


def behind_gateway(definition: str, count: int) -> bytes:
    events = "".join(
        f'<intermediateCatchEvent id="b{n}">{definition.format(n)}</intermediateCatchEvent>'
        + flow("a", f"b{n}")
        + flow(f"b{n}", "end")
        for n in range(count)
    )
    return _around('<eventBasedGateway id="a"/>' + events + flow("start", "a"), count)


def in_process(definition: str, count: int) -> bytes:
    return _around(_event_subprocesses(definition, count) + flow("start", "end"), count)


def of_one_event(definition: str, count: int) -> bytes:
    definitions = "".join(definition.format(n) for n in range(count))
    event = f'<intermediateCatchEvent id="a">{definitions}</intermediateCatchEvent>'
    return _around(event + flow("start", "a") + flow("a", "end"), count)


def on_and_in(count: int, loop: str = "") -> bytes:
    inside = '<startEvent id="x"/>' + _event_subprocesses(SIGNAL, count)
    return on_activity(SIGNAL, count, f'<subProcess id="a">{inside}{loop}</subProcess>')


def _event_subprocesses(definition: str, count: int) -> str:
    return "".join(
        f'<subProcess id="e{n}" triggeredByEvent="true"><startEvent id="e{n}-start">'
        f"{definition.format(n)}</startEvent></subProcess>"
        for n in range(count)
    )


def _around(body: str, count: int) -> bytes:
    signals = "".join(f'<signal id="s{n}" name="signal {n}"/>' for n in range(count))
    return model(START + body + END, around=signals)


def warned(xml: bytes) -> list[str]:
    processes = bpmn.parse(xml, Profile.ZENBPM)
    told = (fault.text for fault in warnings_of(xml, processes, item_bytes=350_000))
    return [text for text in told if "writes" in text]


def test_the_writes_of_a_turn_are_those_of_the_engine() -> None:
    assert ACTIONS_MAX - 2 == WRITES_MAX


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        (on_activity(SIGNAL, 44), 'serviceTask "a" named "Wait" (line 1)'),
        (on_activity(AFTER, 88), 'serviceTask "a" named "Wait" (line 1)'),
        (behind_gateway(SIGNAL, 45), 'eventBasedGateway "a" (line 1)'),
        (in_process(SIGNAL, 45), 'process "order" (line 1)'),
        (of_one_event(SIGNAL, 45), 'intermediateCatchEvent "a" (line 1)'),
        (on_and_in(23), 'subProcess "a" (line 1)'),
    ],
)
def test_more_events_than_a_transaction_can_hold_are_refused(xml: bytes, told: str) -> None:
    expected = f"{told}: expected at most 88 writes to wait for all its events at once, found "

    assert refusal_of(xml).startswith(expected)


@pytest.mark.parametrize(
    "xml",
    [
        on_activity(SIGNAL, 43),
        behind_gateway(SIGNAL, 44),
        in_process(SIGNAL, 44),
        on_activity(EVERY, 100),  # of which all but some may turn out to be over
        on_and_in(40, ROUNDS),  # the one set before the first round, the other in each
    ],
)
def test_what_may_fit_is_deployed_with_a_warning(xml: bytes) -> None:
    assert any("sure to fit" in each for each in warned(xml))


@pytest.mark.parametrize("xml", [on_activity(SIGNAL, 38), on_activity(AFTER, 77), on_and_in(19)])
def test_what_is_sure_to_fit_is_not_warned_of(xml: bytes) -> None:
    assert [] == warned(xml)
