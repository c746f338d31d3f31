"""The routing queue: what is early waits, what faults comes again soon, what is spare goes."""

from __future__ import annotations

import pytest

from chalicelib.delivery import routing as queue
from chalicelib.delivery.routing import Handle
from chalicelib.routing.messages import Place
from chalicelib.triggers.routing import on_routing
from tests.operations.routing import VISIBILITY_S, Routing
from tests.operations.watched import fault, watched


@pytest.mark.parametrize("body", ["", "junk", '{"handle":1}', '{"group":"g"}'])
def test_what_is_none_of_ours_is_dropped(body: str) -> None:
    assert [] == on_routing(Routing().ports, [("m", body)])


def test_an_early_message_is_looked_at_again_and_goes_after_the_horizon() -> None:
    stage = Routing()
    unborn = Handle(Place("a", "1"), "n", 0, stage.clock.now())

    assert [] == on_routing(stage.ports, [("m", queue.to_text(unborn))])

    assert [0.020, 0.040, 0.080] == stage.clock.slept
    assert 1 == stage.queues.count(queue.QUEUE)
    stage.clock.move(140)
    stage.served()
    assert 0 == stage.queues.count(queue.QUEUE)


def test_a_message_that_faults_is_shown_again_soon() -> None:
    stage = Routing()
    stage.channels("a")
    stage.put("a", "1")
    (received,) = stage.queues.receive(queue.QUEUE, 10, VISIBILITY_S, 0)
    ports, watch = watched(stage.ports)
    watch.before["table.write", 1] = fault

    messages, receipts = [("m", received.body)], {"m": received.receipt}
    assert ["m"] == on_routing(ports, messages, receipts)

    stage.clock.move(11)
    stage.served()
    assert "resting" == stage.became("a", "1")
