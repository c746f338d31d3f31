"""What one run of a scheduled job costs; a change that adds a request or a unit shows here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.scheduler.definition import Overlap
from tests.counting import Costs, CountingTable
from tests.fakes.runner import remaining
from tests.operations.scheduling import DAILY, LOOPING, Scheduling


def cost_of(overlap: Overlap, iterations: int = 1) -> tuple[Costs, int]:
    """Return what a firing and its run use, and how many messages are sent for it."""
    stage = Scheduling(*(remaining(left) for left in range(iterations - 1, -1, -1)))
    job = stage.create(schedule=DAILY, overlap=overlap, loop=LOOPING)
    counter = CountingTable(stage.table)
    stage.ports = replace(stage.ports, table=counter)
    sent: list[str] = []
    send = stage.queues.send

    def counted_send(queue: str, messages: list[object]) -> None:
        sent.extend([queue] * len(messages))
        send(queue, messages)  # type: ignore[arg-type]

    stage.queues.send = counted_send  # type: ignore[method-assign, assignment]
    stage.serve([runs.to_text(Firing(job.id, job.revision, stage.clock.now()))], stage.ports)
    stage.pump(stage.ports)
    assert iterations == len(stage.runner.made)
    return counter.costs(), len(sent)


@pytest.mark.parametrize(
    ("overlap", "requests", "write_units"), [(Overlap.SKIP, 7, 14), (Overlap.ALLOW, 7, 6)]
)
def test_a_run_of_one_attempt_costs_so_much(
    overlap: Overlap, requests: int, write_units: int
) -> None:
    costs, sent = cost_of(overlap)

    assert (requests, write_units, 1) == (costs.requests, costs.write_units, sent)


def test_an_iteration_more_costs_so_much() -> None:
    one, more = cost_of(Overlap.SKIP), cost_of(Overlap.SKIP, iterations=2)

    assert 5 == more[0].requests - one[0].requests
    assert 12 == more[0].write_units - one[0].write_units
    assert 1 == more[1] - one[1]
