"""What the code would be with one ordering the other way round; each lasts while it is entered.

They replace a name that a module calls by, so the code itself needs no switch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from types import ModuleType, SimpleNamespace

from greenlet import getcurrent

from chalicelib.delivery import bells, horizon, later
from chalicelib.delivery.bells import Bell
from chalicelib.delivery.promise import promise
from chalicelib.delivery.verdicts import Verdict
from chalicelib.engine import (
    ad_hoc_jobs,
    calls,
    ended_scopes,
    execution_listeners,
    parts,
    subscriptions,
    task_listeners,
)
from chalicelib.engine.effects import Effect
from chalicelib.engine.keys import Keys
from chalicelib.engine.start_timers import StartTimer
from chalicelib.engine.state import Job, Root
from chalicelib.engine.turn import Turn
from chalicelib.operations import buffering, child_sweep, claims, failures, handing_out, turns
from chalicelib.operations.handing_out import HandOut
from chalicelib.ports import (
    Condition,
    Delete,
    Item,
    ItemKey,
    Ports,
    Put,
    Received,
    Refused,
    Table,
    Update,
    Write,
    Written,
)
from chalicelib.store import (
    definitions,
    difference,
    dmn_decisions,
    dmn_definitions,
    instances,
    retention,
)
from chalicelib.store.definitions import DefinitionInfo, Known
from chalicelib.store.dmn_definitions import DmnDefinitionInfo
from chalicelib.store.latest import Latest
from chalicelib.store.table import ROOT
from tests.simulation.ports import StruckTable
from tests.simulation.replacing import replaced

Mutant = AbstractContextManager[None]


# --- promise before commit -----------------------------------------------------------------------


def turn_promised_late() -> Mutant:
    return _promised_late(turns)


def claim_promised_late() -> Mutant:
    return _promised_late(handing_out)


def failure_promised_late() -> Mutant:
    return _promised_late(failures)


@contextmanager
def _promised_late(module: ModuleType) -> Iterator[None]:
    """Let what a module promises be sent only after the next write of the same actor."""
    owed: dict[object, list[Callable[[], object]]] = {}

    def hold(
        ports: Ports, effects: Sequence[Effect], source_key: int = 0, turn_id: str = ""
    ) -> datetime:
        pay = partial(promise, ports, effects, source_key, turn_id)
        owed.setdefault(getcurrent(), []).append(pay)
        return ports.clock.now()

    def settle(result: Written | Refused) -> Written | Refused:
        for pay in owed.pop(getcurrent(), []):
            if isinstance(result, Written):
                pay()
        return result

    write, transact = StruckTable.write, StruckTable.transact

    def write_then_pay(table: StruckTable, one: Put | Update | Delete) -> Written | Refused:
        return settle(write(table, one))

    def transact_then_pay(
        table: StruckTable, writes: Sequence[Write], token: str
    ) -> Written | Refused:
        return settle(transact(table, writes, token))

    with (
        replaced(module, promise_in_time=hold),
        replaced(StruckTable, write=write_then_pay, transact=transact_then_pay),
    ):
        yield


# --- what is waited for by name ------------------------------------------------------------------


def publisher_does_not_look() -> Mutant:
    """Let a message that waits be found only by who comes later."""
    return replaced(buffering, publish=lambda *_: [])


def subscriber_does_not_look() -> Mutant:
    """Let a subscription be found only by what is published later."""
    return replaced(buffering, seek=lambda *_: [])


def broadcasts_answered_again() -> Mutant:
    """Let a broadcast come to what began to wait in answer to it."""
    return replaced(subscriptions, _is_over=lambda *_: False)


# --- who is asked --------------------------------------------------------------------------------


def asked_twice() -> Mutant:
    """Leave the job of a worker that steers an ad-hoc subprocess open when there is a newer one."""
    return replaced(ad_hoc_jobs, end=lambda *_: None)


# --- messages ------------------------------------------------------------------------------------


def early_dropped() -> Mutant:
    """Take what is early for what was never committed."""
    return replaced(horizon, HORIZON=timedelta(days=-1))


def rings_ignored() -> Mutant:
    """Judge every bell as if it had the job's own number."""
    judge = bells.judge

    def judge_any(bell: Bell, job: Job | None, root_version: int | None, now: datetime) -> Verdict:
        return judge(replace(bell, number=job.ring) if job else bell, job, root_version, now)

    return replaced(bells, judge=judge_any)


def not_rung_on() -> Mutant:
    """Refuse a claim by key without ringing on for the job's time."""
    silent = SimpleNamespace(send_on=lambda *_: None, delay_s=later.delay_s)
    return replaced(claims, later=silent)


def bells_deleted_first() -> Mutant:
    """Delete received bells before their jobs are claimed."""
    hand_out = HandOut.hand_out

    def delete_first(self: HandOut, received: Sequence[Received]) -> None:
        if received:
            self.ports.queues.delete(self.queue, [each.receipt for each in received])
        hand_out(self, received)

    return replaced(HandOut, hand_out=delete_first)


def latest_not_compared() -> Mutant:
    """Deploy whatever version was deployed meanwhile."""
    writes = definitions._writes

    def write_all(
        info: DefinitionInfo, known: Known, starts: Mapping[str, StartTimer]
    ) -> list[Write]:
        first, *rest = writes(info, known, starts)
        return [replace(first, condition=()), *rest] if isinstance(first, Put) else [first, *rest]

    return replaced(definitions, _writes=write_all)


def dmn_latest_not_compared() -> Mutant:
    """Deploy whatever version of a DMN file was deployed meanwhile."""
    writes = dmn_definitions._writes

    def write_all(info: DmnDefinitionInfo, pointer: Latest) -> list[Write]:
        first, *rest = writes(info, pointer)
        assert isinstance(first, Put)
        return [replace(first, condition=()), *rest]

    return replaced(dmn_definitions, _writes=write_all)


@contextmanager
def decisions_apart() -> Iterator[None]:
    """Keep decisions before the turn that made them is committed, each by a write of its own."""
    whole = instances.commit

    def commit(
        store: Table,
        turn: Turn,
        mark: Put | None = None,
        planned: Sequence[Write] | None = None,
    ) -> bool:
        for made in turn.decided:
            if made.evaluated.problem is None:
                store.write(dmn_decisions.put(made))
        return whole(store, turn, mark, planned)

    with replaced(instances, commit=commit), replaced(difference, _decided=lambda _: iter(())):
        yield


# --- reads and writes ----------------------------------------------------------------------------


@contextmanager
def records_first() -> Iterator[None]:
    """Read an instance's records before its root: what a load then reads is older than the root."""
    get, get_many = StruckTable.get, StruckTable.get_many
    read: dict[tuple[object, str], dict[ItemKey, Item]] = {}

    def get_after(table: StruckTable, key: ItemKey) -> Item | None:
        if key.sk == ROOT:
            read[getcurrent(), key.pk] = table.inner.collection(key.pk)
        return get(table, key)

    def get_before(table: StruckTable, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        found = get_many(table, keys)
        known = read.get((getcurrent(), keys[0].pk)) if keys else None
        if known is None:
            return found
        return {key: known[key] for key in keys if key in known}

    with replaced(StruckTable, get=get_after, get_many=get_before):
        yield


def records_written_whole() -> Mutant:
    """Write of a record that changed all that was read, not only what changed."""
    update = difference.update

    def update_all(place: ItemKey, old: Item, new: Item, demanded: Condition = ()) -> Update | None:
        write = update(place, old, new, demanded)
        return write and replace(write, set=dict(new))

    return replaced(difference, update=update_all)


# --- what is told of iterations, and kept of scopes ----------------------------------------------


def ends_come_first() -> Mutant:
    """Let the end of a child be heard of although something it threw before was not."""
    return replaced(calls, check_heard=lambda *_: None)


def reports_stay_lost() -> Mutant:
    """Let the sweeper not have an iteration reported that its body did not hear of."""
    return replaced(child_sweep, _unheard=lambda *_: iter(()))


def withdrawals_untold() -> Mutant:
    """Tell a body nothing of an iteration that an operator ended."""
    return replaced(parts, withdraw=lambda *_: None)


def parts_told_late() -> Mutant:
    """Give an item of history its time to live before the parts that it names are told of it."""
    left = retention.left

    def given(store: Table, root: Root, at: int) -> Iterator[tuple[ItemKey, Item]]:
        for place, item in left(store, root, at):
            retention.give(store, place, at)
            yield place, item

    return replaced(retention, left=given)


def places_stay_free() -> Mutant:
    """Let a child begin of which its parent said that it cannot be called."""
    return replaced(Keys, take_back=lambda *_: None)


def nothing_left() -> Mutant:
    """Keep nothing of what a scope leaves for who undoes it."""
    return replaced(ended_scopes, keep=lambda *_: ())


# --- listeners before what they hold up ----------------------------------------------------------


def tasks_end_unheard() -> Mutant:
    """End a user task at once, whoever listens to its end."""
    return replaced(task_listeners, is_heard_at_end=lambda *_: False)


def denials_pass() -> Mutant:
    """Complete a user task whatever its listeners answer."""
    answered = task_listeners.answered
    return replaced(task_listeners, answered=lambda draft, job, _: answered(draft, job, None))


def processes_end_unheard() -> Mutant:
    """End an instance at once, whoever listens to its process."""
    return replaced(execution_listeners, hear_process=lambda *_: False)
