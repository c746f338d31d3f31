"""What the life of a job costs on SQS; a change that adds a request shows here.

pytest -s tests/operations/test_requests.py      prints the figures
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from chalicelib.engine.state import InstanceState
from chalicelib.ports import Message, Queues, Received
from tests.operations.models import wide_fork
from tests.operations.stage import Stage

BATCH_MAX = 10  # entries of one SQS request
REQUESTS_AIM = 2.5  # per job, in batches of ten; design section 9
TYPES = ("reserve", "charge", "ship")


class CountingQueues:
    """Queues that count requests as SQS bills them: one for each batch of ten."""

    def __init__(self, inner: Queues) -> None:
        self._inner = inner
        self.requests: Counter[str] = Counter()

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        self._inner.send(queue, messages)
        self.requests["send"] += -(-len(messages) // BATCH_MAX)

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        self.requests["receive"] += 1
        return self._inner.receive(queue, limit, visibility_s, wait_s)

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        self.requests["delete"] += -(-len(receipts) // BATCH_MAX)
        self._inner.delete(queue, receipts)

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        self.requests["show again"] += 1
        self._inner.show_again(queue, receipt, after_s)

    def ensure(self, queue: str) -> str:
        self.requests["ensure"] += 1
        return self._inner.ensure(queue)

    def names(self) -> list[str]:
        self.requests["names"] += 1
        return self._inner.names()

    def count(self, queue: str) -> int:
        self.requests["count"] += 1
        return self._inner.count(queue)


def counted(stage: Stage) -> CountingQueues:
    queues = CountingQueues(stage.queues)
    stage.ports = replace(stage.ports, queues=queues)
    return queues


def show(what: str, requests: Counter[str], jobs: int) -> float:
    """Print and return the requests per job."""
    each = requests.total() / jobs
    sys.stdout.write(f"\n{what:40}{each:5.2f} SQS requests per job   {dict(requests)}")
    return each


def test_a_job_worked_in_batches_of_ten_costs_at_most_two_and_a_half_requests() -> None:
    stage = Stage()
    definition = stage.deploy("sequence.bpmn")
    queues = counted(stage)

    keys = [stage.create(definition) for _ in range(BATCH_MAX)]
    for type_ in TYPES:
        for job in stage.activate(type_, max_jobs=BATCH_MAX, wait_s=20):
            stage.complete(job)
    stage.clock.move(30)
    for type_ in TYPES:  # the bells of the locks come back, and go
        assert [] == stage.activate(type_, max_jobs=BATCH_MAX)
    requests = Counter(queues.requests)

    assert {InstanceState.COMPLETED} == {stage.state(key) for key in keys}
    assert 0 == sum(queues.count(stage.queue(type_)) for type_ in TYPES)
    # Three polls that find nothing are in it: a worker that waits pays for its waiting.
    assert show("in batches of ten", requests, 30) <= REQUESTS_AIM


def test_a_job_worked_one_at_a_time_costs_six_requests() -> None:
    stage = Stage()
    definition = stage.deploy("sequence.bpmn")
    queues = counted(stage)

    stage.create(definition)
    for type_ in TYPES:
        stage.work(type_)
    requests = Counter(queues.requests)
    stage.clock.move(30)
    for type_ in TYPES:
        received = queues.receive(stage.queue(type_), BATCH_MAX, 30, 1)
        queues.delete(stage.queue(type_), [each.receipt for each in received])

    assert {"send": 6, "receive": 3, "delete": 3} == requests
    assert 6 == show("one at a time, its lock's bell included", queues.requests, 3)


def test_a_start_sends_one_batch_for_each_queue() -> None:
    stage = Stage()
    definition = stage.deploy(wide_fork(10))
    queues = counted(stage)

    stage.create(definition)

    assert {"send": 1} == queues.requests


def test_completing_the_last_job_sends_nothing() -> None:
    stage = Stage()
    stage.create("one_task.bpmn")
    (job,) = stage.activate("charge")
    queues = counted(stage)

    stage.complete(job)

    assert {} == queues.requests
