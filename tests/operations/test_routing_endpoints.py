"""Where routed messages leave: an instance starts, a message is correlated, a URL is called."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.profile import Profile
from chalicelib.store import publications
from tests.fakes.runner import CANCELLED, FAILED, Said
from tests.operations.routing import Routing

MINUTE = timedelta(minutes=1)
CALL = {"endpoint": {"call": {"url": "https://example.com/", "headers": {"X-A": "b"}}}}


def test_a_call_that_is_answered_delivers() -> None:
    stage = Routing(Said(status_code=200))
    stage.channels("a")
    stage.route("a", CALL)
    stage.put("a", "1", {"x": 1})

    stage.served()

    entry = stage.entry("a", "1")
    assert ("delivered", 200) == (entry.state.value, entry.status_code)


def test_a_call_that_fails_is_tried_again_later_and_later() -> None:
    stage = Routing(FAILED, FAILED, Said(status_code=204))
    stage.channels("a")
    stage.route("a", CALL)
    stage.put("a", "1")

    stage.served()
    assert ("waiting", 1) == (stage.became("a", "1"), len(stage.runner.made))
    stage.served(timedelta(seconds=1))
    assert 2 == len(stage.runner.made)
    stage.served(timedelta(seconds=2))

    assert ("delivered", 3) == (stage.became("a", "1"), len(stage.runner.made))


def test_a_call_that_always_fails_is_given_up() -> None:
    stage = Routing(FAILED)
    stage.channels("a")
    stage.route("a", CALL)
    stage.put("a", "1")
    for _ in range(30):
        stage.served(MINUTE)

    entry = stage.entry("a", "1")
    assert ("failed", 10, 500) == (entry.state.value, entry.attempt, entry.status_code)


@pytest.mark.parametrize("said", [CANCELLED, Said(FAILED.outcome, error="no", status_code=404)])
def test_a_call_that_cannot_succeed_fails_at_once(said: Said) -> None:
    stage = Routing(said)
    stage.channels("a")
    stage.route("a", CALL)
    stage.put("a", "1")

    stage.served()

    assert ("failed", 1) == (stage.became("a", "1"), len(stage.runner.made))


def test_a_start_begins_an_instance_with_the_body_as_its_variables() -> None:
    stage = Routing()
    stage.deploy("one_task.bpmn", Profile.PRIOSTACK)
    stage.channels("a")
    stage.route("a", {"endpoint": {"start": {"bpmnProcessId": "one_task"}}})
    stage.put("a", "1", {"x": 1})

    stage.served()

    entry = stage.entry("a", "1")
    assert entry.instance_key is not None and "delivered" == entry.state.value
    assert 1 == stage.variables(entry.instance_key)["x"]


def test_a_correlation_waits_for_who_subscribes_later() -> None:
    stage = Routing()
    stage.channels("a")
    stage.route("a", {"endpoint": {"correlate": {"name": "paid"}}})
    stage.put("a", "1", {"x": 1}, "k")

    stage.served()

    assert "delivered" == stage.became("a", "1")
    now = stage.clock.now()
    assert 1 == len(list(publications.waiting(stage.table, "paid", "k", now)))


def test_a_correlation_that_may_not_wait_fails_when_nobody_does() -> None:
    stage = Routing()
    stage.channels("a")
    stage.route("a", {"endpoint": {"correlate": {"name": "paid", "timeToLive": 0}}})
    stage.put("a", "1", {"x": 1}, "k")

    stage.served()

    assert "failed" == stage.became("a", "1")


def test_a_start_of_a_process_that_nobody_deployed_fails() -> None:
    stage = Routing()
    stage.channels("a")
    stage.route("a", {"endpoint": {"start": {"bpmnProcessId": "none"}}})
    stage.put("a", "1")

    stage.served()

    entry = stage.entry("a", "1")
    assert ("failed", "process none is not deployed") == (entry.state.value, entry.why)
