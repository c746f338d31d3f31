"""Events are read by what they are about; timers and errors are checked when they are deployed."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import Element, EventType, TimerDefinition, Value
from tests.bpmn.models import (
    END,
    START,
    element,
    flow,
    line,
    model,
    parsed,
    refusal_of,
    timer_event,
)

ERROR = '<error id="e1" errorCode="E-1" name="gone"/>'
TASK = '<userTask id="task"/>'


def on_task(boundary: str, around: str = "") -> bytes:
    """Return a process with a boundary event `a` on a task."""
    flows = flow("start", "task") + flow("task", "end") + flow("a", "end")
    return model(START + TASK + boundary + END + flows, around=around)


@pytest.mark.parametrize(
    ("tag", "kind", "text"),
    [
        ("timeDate", "date", "2030-10-01T12:00:00Z"),
        ("timeDuration", "duration", "PT1M"),
        ("timeDuration", "duration", "P1Y2M3DT4H"),
        ("timeCycle", "cycle", "R/PT10S"),
        ("timeCycle", "cycle", "R3/2030-01-01T00:00:00Z/P1D"),
    ],
)
def test_a_timer_is_a_date_a_duration_or_a_cycle(tag: str, kind: str, text: str) -> None:
    expected = TimerDefinition(kind, Value(text))
    padded = f"\n  <!-- when --> {text}\n"

    assert expected == element(line(timer_event("intermediateCatchEvent", tag, text))).timer
    assert expected == element(line(timer_event("intermediateCatchEvent", tag, padded))).timer
    assert expected == element(on_task(boundary(tag, text))).timer


def boundary(tag: str, text: str, attributes: str = "") -> str:
    return timer_event("boundaryEvent", tag, text, f'attachedToRef="task" {attributes}')


@pytest.mark.parametrize("tag", ["timeDate", "timeDuration", "timeCycle"])
def test_a_timer_may_be_feel(tag: str) -> None:
    found = element(line(timer_event("intermediateCatchEvent", tag, "= due + wait")))

    assert found.timer is not None
    assert Value("due + wait", is_feel=True) == found.timer.value


@pytest.mark.parametrize(
    ("tag", "text", "problem"),
    [
        ("timeDuration", "1 hour", "expected an ISO 8601 duration, such as PT30S, P1DT12H or P1M"),
        ("timeDuration", "P", 'found "P"'),
        ("timeDuration", "P999999Y", "expected a duration of at most 9999 years"),
        ("timeDuration", "", "expected a value, found nothing"),
        ("timeDuration", "=", "expected a FEEL expression, found nothing"),
        ("timeDuration", "=1 +", "is no FEEL expression, line 1, column"),
        ("timeDate", "tomorrow", "expected an ISO 8601 date and time"),
        ("timeDate", "2030-02-30T00:00:00Z", "is no date in UTC"),
        ("timeCycle", "PT1H", "expected a repeating interval"),
        ("timeCycle", "R0/PT1H", "expected 1 to 2147483647 repetitions"),
        ("timeCycle", "R/PT0S", "expected an interval of at least one second"),
        ("timeCycle", "0 0 9-17 * * MON-FRY", "expected a day of the week"),
    ],
)
def test_a_timer_that_can_never_be_right_is_refused(tag: str, text: str, problem: str) -> None:
    message = refusal_of(line(timer_event("intermediateCatchEvent", tag, text)))

    assert message.startswith(
        f'intermediateCatchEvent "a" (line 1): {tag} of timerEventDefinition: '
    )
    assert problem in message


@pytest.mark.parametrize(
    ("inner", "found"),
    [
        ("", "none"),
        ("<timeDate>2030-01-01</timeDate><timeCycle>R/PT1H</timeCycle>", "timeDate and timeCycle"),
    ],
)
def test_a_timer_has_exactly_one_time(inner: str, found: str) -> None:
    event = (
        f'<intermediateCatchEvent id="a"><timerEventDefinition>{inner}</timerEventDefinition>'
        "</intermediateCatchEvent>"
    )

    assert f"expected one of timeDate, timeDuration, timeCycle, found {found}" in (
        refusal_of(line(event))
    )


def test_events_without_a_definition_pass_the_token_on() -> None:
    throw = element(line('<intermediateThrowEvent id="a"/>'))

    assert EventType.NONE == throw.event_type


@pytest.mark.parametrize("tag", ["intermediateCatchEvent", "boundaryEvent"])
def test_an_event_that_catches_needs_something_to_catch(tag: str) -> None:
    event = f'<{tag} id="a" attachedToRef="task"/>'
    xml = line(event) if tag != "boundaryEvent" else on_task(event)

    assert f'{tag} "a" (line 1): expected an event definition' in refusal_of(xml)


def test_a_terminate_end_event_is_one() -> None:
    end = '<endEvent id="a"><terminateEventDefinition/></endEvent>'

    assert EventType.TERMINATE == element(model(START + end + flow("start", "a"))).event_type


# --- boundary events ---------------------------------------------------------------------------


def test_a_boundary_event_knows_its_activity_and_is_known_to_it() -> None:
    process = parsed(on_task(boundary("timeDuration", "PT1S")))

    assert "task" == process.elements["a"].attached_to
    assert ("a",) == process.elements["task"].boundary_events


@pytest.mark.parametrize(
    ("attributes", "interrupts"),
    [("", True), ('cancelActivity="true"', True), ('cancelActivity="false"', False)],
)
def test_a_boundary_event_interrupts_unless_it_says_not(attributes: str, interrupts: bool) -> None:
    """P54."""
    found = element(on_task(boundary("timeDuration", "PT1S", attributes)))

    assert interrupts == found.cancel_activity


@pytest.mark.parametrize(
    ("attached", "problem"),
    [
        ("", "expected an attribute attachedToRef, found none"),
        ("nothing", 'attachedToRef "nothing" names no element of process "order"'),
        ("start", "expected attachedToRef to name a task or subprocess beside it"),
        ("gateway", "expected attachedToRef to name a task or subprocess beside it"),
        ("inner", "expected attachedToRef to name a task or subprocess beside it"),
    ],
)
def test_a_boundary_event_on_nothing_is_refused(attached: str, problem: str) -> None:
    event = timer_event("boundaryEvent", "timeDuration", "PT1S", f'attachedToRef="{attached}"')
    beside = (
        '<parallelGateway id="gateway"/>'
        '<subProcess id="sub"><startEvent id="s2"/><task id="inner"/></subProcess>'
    )
    xml = model(START + END + event + beside + flow("a", "end"))

    message = refusal_of(xml)

    assert message.startswith('boundaryEvent "a" (line 1): ')
    assert problem in message


# --- errors ------------------------------------------------------------------------------------


def error_boundary(definition: str, attributes: str = "") -> str:
    return f'<boundaryEvent id="a" attachedToRef="task" {attributes}>{definition}</boundaryEvent>'


def error_end(definition: str) -> bytes:
    end = f'<endEvent id="a">{definition}</endEvent>'
    return model(START + end + flow("start", "a"), around=ERROR + '<error id="e2"/>')


def test_an_error_boundary_event_catches_the_code_of_its_error() -> None:
    def caught(definition: str, around: str = ERROR) -> Element:
        return element(on_task(error_boundary(definition), around))

    assert "E-1" == caught('<errorEventDefinition errorRef="e1"/>').error_code
    assert "E-1" == caught('<errorEventDefinition errorRef="tns:e1"/>').error_code
    assert caught("<errorEventDefinition/>").error_code is None
    assert caught('<errorEventDefinition errorRef="e2"/>', '<error id="e2"/>').error_code is None
    assert EventType.ERROR == caught("<errorEventDefinition/>").event_type


def test_an_error_boundary_event_always_interrupts() -> None:
    event = error_boundary("<errorEventDefinition/>", 'cancelActivity="false"')

    assert "expected an error to interrupt" in refusal_of(on_task(event))


def test_an_error_end_event_throws_the_code_of_its_error() -> None:
    end = element(error_end('<errorEventDefinition errorRef="e1"/>'))

    assert (EventType.ERROR, "E-1") == (end.event_type, end.error_code)


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        ("<errorEventDefinition/>", "expected an errorRef that names an error with an errorCode"),
        ('<errorEventDefinition errorRef="e2"/>', "with an errorCode, found none"),
        ('<errorEventDefinition errorRef="e9"/>', 'errorRef "e9" names no error of the file'),
    ],
)
def test_an_error_end_event_without_a_code_is_refused(definition: str, problem: str) -> None:
    message = refusal_of(error_end(definition))

    assert message.startswith('endEvent "a" (line 1): ')
    assert problem in message


# --- messages that are thrown ------------------------------------------------------------------


MESSAGE = '<message id="m" name="order placed"/>'
THROWN = (
    '<extensionElements><zeebe:taskDefinition type="send" retries="4" retryBackoff="PT7S"/>'
    '</extensionElements><messageEventDefinition messageRef="m"/>'
)


@pytest.mark.rule("R66")
@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_message_is_thrown_by_a_job(tag: str) -> None:
    flows = flow("start", "a")
    found = element(model(f'{START}<{tag} id="a">{THROWN}</{tag}>{flows}', around=MESSAGE))

    assert EventType.MESSAGE is found.event_type
    assert found.job is not None
    expected = (Value("send"), Value("4"), Value("PT7S"))
    assert expected == (found.job.type, found.job.retries, found.job.retry_backoff)


@pytest.mark.rule("R60")
@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_thrown_message_whose_retries_say_nothing_is_refused(tag: str) -> None:
    wrong = THROWN.replace('retries="4"', 'retries="many"')

    message = refusal_of(model(f'{START}<{tag} id="a">{wrong}</{tag}>', around=MESSAGE))

    assert "attribute retries of taskDefinition" in message
    assert '"a"' in message
