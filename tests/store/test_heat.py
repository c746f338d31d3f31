"""Keys of the tables stay cool: a partition takes 1,000 write units a second, and gives 3,000 read.

Instances are run twice so many times. A partition that both halves touch is shared, and gets as
hot as there are instances a second; one that only one half touches belongs to few instances, and
gets no hotter than they make it. What a container reads once and keeps is read in the first half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import count
from typing import NamedTuple

import pytest

from chalicelib.delivery import routing as routing_queue
from chalicelib.engine.state import Incident
from chalicelib.operations import routes, routing
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.instances import Start, create_process_instance
from chalicelib.operations.messages import Message, publish_message
from chalicelib.operations.signals import broadcast_signal
from chalicelib.operations.start_quota import create_within_quota
from chalicelib.ports import LIVE, Settings
from chalicelib.profile import Profile
from chalicelib.routing.messages import Message as Routed
from chalicelib.store import routing_keys, table
from chalicelib.store.definitions import Definition
from chalicelib.store.marks import Once
from chalicelib.triggers.routing import on_routing
from tests.counting import CountingTable, Partition
from tests.engine.models import line, message_catch, service, signal_event
from tests.operations.dmn import RULE_TASK, deploy_dmn
from tests.operations.models import timer_then_task, typed_task
from tests.operations.stage import Stage
from tests.play import to_json

WRITE_UNITS_MAX, READ_UNITS_MAX = 1_000, 3_000  # a second (DynamoDB Developer Guide, "Quotas")
JOBS = 10_000  # a second
HALF = 2 * table.SHARDS  # instances of each half, so that every shard has as many
HELD = line(message_catch("c", "paid"), service("work"), messages={"paid": "=order"})


class Heated(Stage):
    """A stage whose table counts by partitions, with one definition."""

    def __init__(self, model: str | bytes, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.counter = CountingTable(self.table)
        self.ports = replace(self.ports, table=self.counter)
        deploy_dmn(self)
        for name in ("in", "out"):
            routes.put_channel(self.ports, name, {})
        routes.put_route(self.ports, "r", to_json({"from": "in", "steps": [{"channel": "out"}]}))
        self.definition: Definition = self.deploy(model)

    def start(self, once: Once | None = None, **variables: str) -> int:
        wanted = Start(
            definition_key=self.definition.key,
            profile=self.definition.profile,
            variables=dict(variables),
        )
        return create_process_instance(self.ports, wanted, once).key

    def finish(self, *types: str) -> None:
        for type_ in types:
            self.work(type_)


# --- what happens to an instance ---------------------------------------------------------------


def all_of_it(stage: Heated, number: int) -> None:
    stage.start()
    stage.finish("reserve", "charge", "ship")


def one_task(stage: Heated, number: int) -> None:
    stage.start()
    stage.finish("work")


def by_process_id(stage: Heated, number: int) -> None:
    create_process_instance(stage.ports, Start(bpmn_process_id="made", profile=Profile.ZENBPM))
    stage.finish("work")


def within_a_quota(stage: Heated, number: int) -> None:
    wanted = Start(bpmn_process_id="made", profile=Profile.ZENBPM)
    create_within_quota(stage.ports, wanted)
    stage.finish("work")


def a_repeat(stage: Heated, number: int) -> None:
    stage.start(Once("start", f"key-{number}", "body"))
    stage.finish("work")


def a_decision(stage: Heated, number: int) -> None:
    stage.start()
    stage.work("before", amount=550)
    stage.finish("after")


def a_timer(stage: Heated, number: int) -> None:
    stage.start()
    stage.wait(2)
    stage.finish("work")


def a_message(stage: Heated, number: int) -> None:
    stage.start(order=f"o-{number}")
    publish_message(stage.ports, Message("paid", f"o-{number}", profile=Profile.ZENBPM))
    stage.finish("work")


def an_incident(stage: Heated, number: int) -> None:
    key = stage.start()
    (job,) = stage.activate("work")
    stage.fail(job, retries=0, token=job.delivery_token)
    records = stage.instance(key).records.values()
    (incident,) = (each.key for each in records if isinstance(each, Incident))
    resolve_incident(stage.ports, incident, Mended(retries=1))
    stage.finish("work")


def a_routed_message(stage: Heated, number: int) -> None:
    ids = (f"m-{number}-{n}" for n in count())
    id_ = next(each for each in ids if routing_keys.shard_of(each) == number % table.SHARDS)
    routing.put_message(stage.ports, "in", Routed(id_, {"n": number}))
    for body in stage.queues.visible(routing_queue.QUEUE):
        assert [] == on_routing(stage.ports, [("m", body)])
    stage.queues.lose(routing_queue.QUEUE)


def a_signal(stage: Heated, number: int) -> None:
    """Many wait for it; they are told all at once, when half of the instances do."""
    stage.start()
    if (number + 1) % HALF == 0:
        broadcast_signal(stage.ports, "gong", {})
        stage.wait(60)


class Life(NamedTuple):
    """A model, what happens to an instance of it, and how many jobs that is."""

    model: str | bytes
    happens: Callable[[Heated, int], None]
    jobs: int = 1


LIVES: Mapping[str, Life] = {
    "three tasks": Life("sequence.bpmn", all_of_it, 3),
    "one task": Life(typed_task("work"), one_task),
    "one task, started by its process id": Life(typed_task("work"), by_process_id),
    "one task, started under a key": Life(typed_task("work"), a_repeat),
    "two tasks and a decision": Life(RULE_TASK, a_decision, 2),
    "a timer and a task": Life(timer_then_task("PT2S"), a_timer),
    "a message and a task": Life(HELD, a_message),
    "a task with an incident": Life(typed_task("work"), an_incident),
    "a message that goes from a channel to another": Life("one_task.bpmn", a_routed_message),
}
SIGNAL = Life(
    line(signal_event("intermediateCatchEvent", "s", "sig"), signals={"sig": "gong"}), a_signal
)
SIGNALS = 4_000  # instances a second that one signal is waited for by
# Read with each start by a process id and each decision of the latest version, for who asks for the
# latest gets it, and with each message in a channel: docs/quotas.md says where that ends.
POINTERS = {
    "one task, started by its process id": {"L#"},
    "two tasks and a decision": {"L#"},
    "a message that goes from a channel to another": {"RO"},
}


def heat(
    life: Life, settings: Settings | None = None, jobs: int = JOBS
) -> tuple[Counter[Partition], dict[Partition, Decimal]]:
    """Return the units that the partitions write and read a second, at so many jobs a second."""
    stage = Heated(life.model, settings)
    halves = []
    for half in range(2):
        stage.counter.written.clear()
        stage.counter.read.clear()
        for number in range(HALF):
            life.happens(stage, half * HALF + number)
        stage.wait(40)  # the locks' bells, and the messages that were insurance
        halves.append((Counter(stage.counter.written), dict(stage.counter.read)))
    rate = Decimal(jobs) / life.jobs / HALF
    written: Counter[Partition] = Counter()
    read: dict[Partition, Decimal] = {}
    for (wrote, reads), (wrote_before, read_before) in (halves, halves[::-1]):
        for partition, units in wrote.items():
            shared = partition in wrote_before
            written[partition] = max(written[partition], round(units * (rate if shared else 1)))
        for partition, each in reads.items():
            times = rate if partition in read_before else 1
            read[partition] = max(read.get(partition, Decimal(0)), each * times)
    return written, read


@pytest.mark.parametrize("name", LIVES)
def test_no_key_is_hot_at_ten_thousand_jobs_a_second(name: str) -> None:
    written, read = heat(LIVES[name])

    hottest, units = written.most_common(1)[0]
    assert units <= WRITE_UNITS_MAX, hottest
    hot = {partition.pk[:2] for partition, units in read.items() if units > READ_UNITS_MAX}
    assert POINTERS.get(name, set()) == hot


def test_a_quota_of_starts_is_one_key_that_all_share_and_is_found() -> None:
    """It is off unless an operator sets it: docs/quotas.md says where it ends."""
    quota = Settings(start_quota=1_000_000)

    written, _ = heat(Life(typed_task("work"), within_a_quota), quota)

    assert JOBS <= written[Partition(LIVE, "", table.START_QUOTA.pk)]


def test_a_signal_that_thousands_wait_for_is_spread() -> None:
    written, _ = heat(SIGNAL, jobs=SIGNALS)

    hottest, units = written.most_common(1)[0]
    assert units <= WRITE_UNITS_MAX, hottest
