"""Promising: what is sent where, in how many requests, and what nobody may rely on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from chalicelib.delivery import bells, commands, timers
from chalicelib.delivery.promise import (
    TYPES_MAX,
    ensure_queue,
    job_queue,
    measure,
    promise,
    promise_in_time,
)
from chalicelib.engine.commands import Continue
from chalicelib.engine.effects import Effect, Ring, Send, SetTimer
from chalicelib.errors import Conflict, TooLarge
from chalicelib.ports import Message, Ports, QueueMissing
from chalicelib.profile import Profile
from tests.fakes.chance import SeededChance
from tests.fakes.clock import BEGIN, ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable

SECOND = timedelta(seconds=1)
INSTANCE = 2**32


class CountedQueues(MemoryQueues):
    """Queues that note each send; the first `slow` of a new queue find it missing still."""

    def __init__(self, clock: ManualClock, slow: int = 0, stall: float = 0.0) -> None:
        super().__init__(clock)
        self.sends: list[tuple[str, int]] = []
        self.slow = slow
        self.stall = stall
        self.clock = clock

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        super().send(queue, ())
        if queue.startswith(bells.PREFIX) and self.slow:
            self.slow -= 1
            raise QueueMissing(queue)
        self.sends.append((queue, len(messages)))
        super().send(queue, messages)
        self.clock.move(self.stall)


def ports_of(queues: CountedQueues) -> Ports:
    clock = queues.clock
    return Ports(MemoryTable(), queues, MemorySchedules(clock, queues), clock, SeededChance())


def ring(number: int, type_: str = "charge", after: timedelta = timedelta(0)) -> Ring:
    return Ring(INSTANCE + number, "bpmn", type_, Profile.ZENBPM, 1, BEGIN + after, version=1)


def test_each_queue_gets_its_messages_in_one_send() -> None:
    queues = CountedQueues(ManualClock())
    ports = ports_of(queues)
    owed: list[Effect] = [
        *(ring(number) for number in range(3)),
        ring(7, "ship"),
        SetTimer(INSTANCE, INSTANCE + 8, BEGIN + 5 * SECOND, 1),
        SetTimer(INSTANCE, INSTANCE + 9, BEGIN + 6 * SECOND, 1),
        Send(INSTANCE, Continue(), 1),
    ]

    promise(ports, owed, INSTANCE, "a-turn")

    charge = job_queue(ports, "bpmn", "charge", Profile.ZENBPM)
    ship = job_queue(ports, "bpmn", "ship", Profile.ZENBPM)
    assert [(charge, 3), (ship, 1), ("timers", 2), ("commands", 1)] == queues.sends


def test_what_is_sent_says_all_that_its_receiver_must_know() -> None:
    queues = CountedQueues(ManualClock())
    ports = ports_of(queues)
    due = BEGIN + 5 * SECOND

    promise(ports, [ring(3), SetTimer(INSTANCE, 9, due, 4), Send(77, Continue(), 4)], INSTANCE, "t")

    (bell,) = queues.bodies(job_queue(ports, "bpmn", "charge", Profile.ZENBPM))
    (timer,) = queues.bodies("timers")
    (command,) = queues.bodies("commands")
    assert (
        bells.Bell(INSTANCE + 3, "bpmn", "charge", Profile.ZENBPM, 1, BEGIN, BEGIN, 1)
    ) == bells.from_text(bell)
    assert timers.TimerMessage(INSTANCE, 9, due, 4, BEGIN) == timers.from_text(timer)
    source = commands.Source(INSTANCE, 4, "t")
    assert commands.QueuedCommand(77, Continue(), BEGIN, source) == commands.from_text(command)


def test_what_is_for_later_is_delayed_to_the_next_second_but_no_longer_than_sqs_can() -> None:
    clock = ManualClock()
    queues = CountedQueues(clock)
    ports = ports_of(queues)

    promise(ports, [ring(1, after=1.2 * SECOND), ring(2, after=2 * 86_400 * SECOND)])

    queue = job_queue(ports, "bpmn", "charge", Profile.ZENBPM)
    clock.move(1.9)
    assert [] == queues.visible(queue)
    clock.move(0.1)
    assert 1 == len(queues.visible(queue))
    clock.move(898)
    assert 2 == len(queues.visible(queue))


def test_a_job_queue_that_is_missing_is_made_and_waited_for() -> None:
    queues = CountedQueues(ManualClock(), slow=2)

    promise(ports_of(queues), [ring(1)])

    assert 1 == sum(count for _, count in queues.sends)
    assert 1 == len(queues.names())


def test_a_queue_of_the_template_that_is_missing_is_a_fault() -> None:
    queues = CountedQueues(ManualClock())
    queues.drop("timers")

    with pytest.raises(QueueMissing, match="timers"):
        promise(ports_of(queues), [SetTimer(INSTANCE, INSTANCE + 9, BEGIN, 1)])


def test_one_job_type_too_many_is_too_large_but_those_that_exist_are_not() -> None:
    queues = CountedQueues(ManualClock())
    ports = ports_of(queues)
    for number in range(TYPES_MAX):
        queues.ensure(f"j-{number}")

    assert ensure_queue(ports, "j-7").endswith("j-7")
    with pytest.raises(TooLarge, match="at most 1000 job types"):
        promise(ports, [ring(1)])


def test_a_job_type_that_is_too_long_for_its_bell_is_too_large() -> None:
    measure([ring(1, "x" * 2_000)])

    with pytest.raises(TooLarge, match="at most 2000 bytes, found 2001"):
        measure([ring(1, "x" * 2_001)])


def test_a_process_that_stalled_promises_again_before_it_commits() -> None:
    queues = CountedQueues(ManualClock(), stall=21)
    ports = ports_of(queues)

    with pytest.raises(Conflict, match="0:00:20"):
        promise_in_time(ports, [ring(1)])

    assert 3 == len(queues.sends)


def test_nothing_owed_costs_nothing() -> None:
    queues = CountedQueues(ManualClock(), stall=21)

    promise_in_time(ports_of(queues), [])

    assert [] == queues.sends


def test_dialects_share_a_queue_unless_they_are_kept_apart() -> None:
    shared = ports_of(CountedQueues(ManualClock()))
    apart = Ports(
        shared.table,
        shared.queues,
        shared.schedules,
        shared.clock,
        shared.chance,
        type(shared.settings)(cross_dialect=False),
    )

    assert 1 == len({job_queue(shared, "bpmn", "charge", profile) for profile in Profile})
    assert 2 == len({job_queue(apart, "bpmn", "charge", profile) for profile in Profile})
