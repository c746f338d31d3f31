"""What happens to a message next is a function of its route and of the message alone."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from chalicelib.feel import Deadline, Moment
from chalicelib.routing import reading
from chalicelib.routing.decisions import (
    ATTEMPTS_MAX,
    Call,
    Claim,
    Correlate,
    Decision,
    Drop,
    Fail,
    Hold,
    Rest,
    Send,
    Start,
    decide,
    retried_at,
)
from chalicelib.routing.definition import HOPS_MAX
from chalicelib.routing.messages import Entry, Message
from tests.fakes.clock import BEGIN
from tests.play import to_json

DAY = timedelta(days=1)


def entry(body: Any, **members: Any) -> Entry:
    message = Message("1", to_json({"body": body})["body"], "k", {"h": "v"})
    given = {"nonce": "n", "entered_at": BEGIN, "due": BEGIN, "expires_at": BEGIN + DAY}
    return Entry(**{"channel": "a", "message": message, **given, **members})


def decided(body: Any, *steps: Any, **members: Any) -> Decision:
    route = reading.route("r", to_json({"from": "a", "steps": list(steps)}))
    return decide(route, entry(body, **members), Moment(BEGIN))


def test_without_a_route_a_message_rests() -> None:
    assert Rest() == decide(None, entry(1), Moment(BEGIN))


def test_a_route_whose_expressions_take_too_long_fails_the_message() -> None:
    slow = {"filter": {"condition": "count(for i in 1..90000 return body) > 0"}}
    route = reading.route("r", to_json({"from": "a", "steps": [slow, {"channel": "b"}]}))
    hurried = Moment(BEGIN, deadline=Deadline(count().__next__))

    made = decide(route, entry(1), hurried)

    assert isinstance(made, Fail) and "more than 2 seconds" in made.why
    assert isinstance(decide(route, entry(1), Moment(BEGIN)), Send)


@pytest.mark.parametrize("condition", ["=null", "body", "=body > 5", '="true"'])
def test_a_filter_lets_pass_only_what_is_true(condition: str) -> None:
    assert isinstance(decided(5, {"filter": {"condition": condition}}, {"channel": "b"}), Drop)


def test_what_a_repeat_filter_let_pass_is_not_asked_again() -> None:
    steps = ({"filter": {"repeatsOf": "=body"}}, {"channel": "b"})

    claim = decided("x", *steps)

    assert isinstance(claim, Claim) and "x" == claim.text
    assert isinstance(decided("x", *steps, claimed=(claim.name,)), Send)


def test_steps_see_what_the_steps_before_made() -> None:
    double = {"translator": {"body": "=body * 2"}}

    made = decided(1, double, double, {"filter": {"condition": "=body = 4"}}, {"channel": "b"})

    assert isinstance(made, Send)
    assert [4] == [message.body for message in made.messages]


@pytest.mark.parametrize(
    "step",
    [
        {"translator": {"headers": "=1"}},
        {"translator": {"correlationKey": "={}"}},
        {"translator": {"body": '=assert(null, false, "no")'}},
        {"filter": {"repeatsOf": "=null"}},
    ],
)
def test_what_gives_another_kind_of_value_fails_with_its_place(step: Any) -> None:
    failed = decided(1, step, {"channel": "b"})

    assert isinstance(failed, Fail) and "route r, step 1" == failed.by


def test_what_an_endpoint_is_given() -> None:
    start = decided({"x": 1}, {"endpoint": {"start": {"bpmnProcessId": "p"}}})
    whole = decided(7, {"endpoint": {"start": {"bpmnProcessId": "p", "version": 2}}})
    named = {"name": "paid", "correlationKey": "=headers.h", "variables": "={id: id}"}
    correlated = decided(1, {"endpoint": {"correlate": named}})
    call = decided(1, {"endpoint": {"call": {"url": '="https://example.com/" + id'}}})
    read = decided(1, {"endpoint": {"call": {"url": "https://example.com", "method": "GET"}}})

    assert start == Start("route r, step 1", "p", None, to_json({"x": 1}))
    assert whole == Start("route r, step 1", "p", 2, to_json({"body": 7}))
    assert correlated == Correlate("route r, step 1", "paid", "v", {"id": "1"}, None)
    assert isinstance(call, Call) and isinstance(read, Call)
    assert ("https://example.com/1", "1", None) == (call.url, call.body, read.body)


def test_an_aggregator_gets_the_message_as_the_steps_made_it() -> None:
    steps = ({"translator": {"correlationKey": "=body"}}, {"aggregator": "all"})
    held = decided(7, *steps)

    assert isinstance(held, Hold)
    assert ("all", "7") == (held.aggregator, held.correlation_key)


def test_a_message_that_went_through_too_many_channels_fails() -> None:
    assert isinstance(decided(1, {"channel": "b"}, hops=HOPS_MAX), Fail)


def test_what_becomes_too_large_fails() -> None:
    large = {"translator": {"body": "=body + body"}}
    assert isinstance(decided("x" * 100_000, large, {"channel": "b"}), Fail)


def test_attempts_are_further_apart_each_time_and_end() -> None:
    times = [retried_at(attempt, BEGIN) for attempt in range(1, ATTEMPTS_MAX + 1)]

    waits = [(at - BEGIN).total_seconds() for at in times if at is not None]
    assert [1, 2, 4, 8, 16, 32, 64, 128, 256] == waits
    assert None is times[-1]
