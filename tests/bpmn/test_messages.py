"""Messages, signals and what may stand behind an event-based gateway, as the model has them."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import EventName, EventType, Value
from tests.bpmn.models import parsed, refusal_of
from tests.engine.models import (
    boundary,
    catch,
    end,
    event_gateway,
    line,
    message_catch,
    message_event,
    process,
    receive,
    service,
    signal_event,
    start,
    sub,
)

KEY = {"paid": "=order"}


@pytest.mark.parametrize(
    "other", [message_event("startEvent", "o", "paid"), receive("o", "paid", instantiates=True)]
)
def test_a_message_starts_an_instance_at_one_place(other: str) -> None:
    first = message_event("startEvent", "m", "paid")
    xml = process(first, other, end(), flows="m > end; o > end", messages={"paid": None})

    assert 'found "paid", which starts one at startEvent "m" (line 1) already' in refusal_of(xml)


def test_a_signal_starts_an_instance_at_each_of_its_start_events() -> None:
    events = (signal_event("startEvent", id_, "s1") for id_ in ("one", "other"))
    xml = process(*events, end(), flows="one > end; other > end", signals={"s1": "alarm"})

    assert {"alarm": ["one", "other"]} == parsed(xml).started_by(EventType.SIGNAL)


@pytest.mark.parametrize("waiting", [message_catch("c", "paid"), receive("c", "paid")])
def test_a_message_is_read_with_its_key(waiting: str) -> None:
    found = parsed(line(waiting, messages=KEY)).elements["c"]

    assert (EventType.MESSAGE, EventName(Value("paid"), Value("order", is_feel=True))) == (
        found.event_type,
        found.event_name,
    )


def test_a_signal_is_read_with_its_name() -> None:
    xml = line(signal_event("intermediateCatchEvent", "c", "s1"), signals={"s1": "alarm"})
    found = parsed(xml).elements["c"]

    assert (EventType.SIGNAL, EventName(Value("alarm"))) == (found.event_type, found.event_name)


def test_what_starts_a_process_is_known_by_its_name() -> None:
    xml = process(
        *(start(), message_event("startEvent", "m", "ordered"), end()),
        *(receive("r", "asked", instantiates=True),),
        *(signal_event("startEvent", "s", "s1"),),
        flows="start > end; m > end; r > end; s > end",
        messages={"ordered": None, "asked": None},
        signals={"s1": "alarm"},
    )
    found = parsed(xml)

    assert ("start", {"ordered": ["m"], "asked": ["r"]}, {"alarm": ["s"]}) == (
        found.start,
        found.started_by(EventType.MESSAGE),
        found.started_by(EventType.SIGNAL),
    )


@pytest.mark.parametrize(
    ("xml", "problem"),
    [
        (
            line(message_catch("c", "other"), messages=KEY),
            'intermediateCatchEvent "c" (line 1): messageRef "other" names no message of the file',
        ),
        (
            line(message_catch("c", "paid"), messages={"paid": None}),
            'expected a subscription with a correlationKey at message "paid", found none',
        ),
        (
            line(receive("c", "paid"), messages={"paid": None}),
            'receiveTask "c" (line 1): expected a subscription with a correlationKey',
        ),
        (
            line(message_catch("c", "paid"), messages={"paid": "=order +"}),
            'attribute correlationKey of message "paid"',
        ),
        (
            line(message_catch("c", "paid"), messages=KEY).replace(b'name="paid"', b'name=" "'),
            'expected a name at message "paid"',
        ),
        (
            line(message_catch("c", "x" * 1_001), messages={"x" * 1_001: "=order"}),
            "expected a message name of at most 1000 characters, found 1001",
        ),
        (
            line(signal_event("intermediateCatchEvent", "c", "s2"), signals={"s1": "alarm"}),
            'signalRef "s2" names no signal of the file',
        ),
        (
            process(
                *(message_event("startEvent", "m", "ordered"), end()),
                flows="m > end",
                messages={"ordered": None},
            ).replace(b'name="ordered"', b'name="=a"'),
            "expected a name that starts an instance as text",
        ),
        (
            line(
                sub("s", message_event("startEvent", "m", "paid"), flows=""),
                messages={"paid": None},
            ),
            'startEvent "m" (line 1): expected no event definition inside a subprocess, found one',
        ),
        (
            line(receive("r", "paid", instantiates=True), messages=KEY),
            'expected no incoming flow with instantiate="true", found one',
        ),
        (process(service("a"), end(), flows="a > end"), "expected a start event, found none"),
    ],
)
def test_a_message_that_cannot_be_waited_for_is_refused(xml: bytes, problem: str) -> None:
    assert problem in refusal_of(xml)


def test_a_receive_task_without_a_message_is_refused_where_it_has_a_part() -> None:
    xml = line(receive("r", "paid"), messages=KEY).replace(b' messageRef="paid"', b"")

    assert "unsupported element type receiveTask without a messageRef" in refusal_of(xml)


@pytest.mark.parametrize(
    ("parts", "flows", "problem"),
    [
        (
            (service("a"),),
            "g > a > end",
            "expected a catch event or a receive task behind an event-based gateway, found service",
        ),
        (
            (catch("t", duration="PT1S"),),
            "g > t: x = 1; t > end",
            'expected no condition on flow "g-t", found one',
        ),
        ((), "", "expected a flow to an event, found no outgoing flow"),
        (
            (catch("t", duration="PT1S"), service("a")),
            "g > t > end; start > a > t",
            'expected no other flow into "t", found 2',
        ),
        (
            (receive("r", "paid"), boundary("late", "r", duration="PT1S")),
            "g > r > end; late > end",
            'expected no boundary event on "r", found "late"',
        ),
    ],
)
def test_what_cannot_stand_behind_an_event_based_gateway_is_refused(
    parts: tuple[str, ...], flows: str, problem: str
) -> None:
    xml = process(
        *(start(), event_gateway("g"), *parts, end()), flows=f"start > g; {flows}", messages=KEY
    )

    assert problem in refusal_of(xml)
    assert 'eventBasedGateway "g" (line 1)' in refusal_of(xml)


def test_what_starts_instances_from_behind_a_gateway_needs_no_key() -> None:
    gateway = '<eventBasedGateway id="g" instantiate="true"/>'
    xml = process(
        *(gateway, message_catch("m", "paid"), end()), flows="g > m > end", messages={"paid": None}
    )

    assert {"paid": ["m"]} == parsed(xml).started_by(EventType.MESSAGE)


@pytest.mark.parametrize(
    ("attributes", "flows", "problem"),
    [
        ('eventGatewayType="Parallel"', "start > g > m > end", 'expected instantiate="true" with'),
        (
            'instantiate="true" eventGatewayType="Parallel"',
            "start > end; g > m > end",
            "expected a subscription with a correlationKey",
        ),
        (
            'instantiate="true"',
            "start > end; g > t > end",
            "expected a message or signal to start an instance",
        ),
    ],
)
def test_a_gateway_that_cannot_start_instances_is_refused(
    attributes: str, flows: str, problem: str
) -> None:
    xml = process(
        *(start(), f'<eventBasedGateway id="g" {attributes}/>', message_catch("m", "paid")),
        *(catch("t", duration="PT1S"), end()),
        flows=flows,
        messages={"paid": None},
    )

    assert problem in refusal_of(xml)
