"""A tiny driver of the engine alone: start a process, play its workers, move its clock.

    play("order.bpmn").create(amount=5).complete("charge", paid=True).wait(60)

It keeps the whole instance, but shows `handle` only what `needs.wanted` names and what `Missing`
asks for, makes the turns that a bounded turn owes, and checks that each turn is a legal one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from chalicelib import bpmn
from chalicelib.bpmn.model import Process
from chalicelib.engine.commands import (
    ActivateElements,
    CancelInstance,
    Command,
    CompleteJob,
    Continue,
    Correlate,
    CreateInstance,
    DeleteVariable,
    FailJob,
    FireTimer,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.decided import Called, Decidable
from chalicelib.engine.draws import Draws
from chalicelib.engine.effects import Send
from chalicelib.engine.handle import handle
from chalicelib.engine.job_results import Activation, AdHocResult
from chalicelib.engine.keys import FIRST_BLOCK, Keys, OutOfKeys
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.engine.needs import wanted
from chalicelib.engine.state import (
    Incident,
    Instance,
    InstanceState,
    Job,
    JobState,
    RecordKey,
    Root,
    Subscription,
    Timer,
    Variables,
    Waited,
)
from chalicelib.engine.turn import Entered, Missing, Taken, Turn
from chalicelib.feel import Deadline
from chalicelib.feel.moment import Moment
from chalicelib.profile import Profile
from tests.legal_turns import check

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
DIAGRAMS = Path(__file__).parent / "diagrams"
TURNS_MAX = 2_000  # of one command; more is a loop without end


def to_json(value: Any) -> Any:
    """Return Python values as our JSON: numbers as decimals."""
    match value:
        case bool() | None | str() | Decimal():
            return value
        case int() | float():
            return Decimal(str(value))
        case list() | tuple():
            return [to_json(item) for item in value]
        case dict():
            return {name: to_json(item) for name, item in value.items()}
        case _:
            raise TypeError(f"no JSON: {value!r}")


def activations(*elements: str | tuple[str, dict[str, Any]]) -> tuple[Activation, ...]:
    """Return activations of elements by their ids, those with variables in a pair."""
    pairs = (each if isinstance(each, tuple) else (each, {}) for each in elements)
    return tuple(Activation(id_, to_json(values)) for id_, values in pairs)


def load(source: Process | str | bytes | Path, profile: Profile) -> Process:
    """Return a process: given, from XML, or from a file of `tests/diagrams`."""
    match source:
        case Process():
            return source
        case bytes():
            return bpmn.parse(source, profile)[0]
        case _:
            return bpmn.parse((DIAGRAMS / source).read_bytes(), profile)[0]


class Play:
    """One process instance, the workers around it and its clock."""

    def __init__(self, process: Process, profile: Profile, limits: Limits, now: datetime) -> None:
        self.process = process
        self.profile = profile
        self.limits = limits
        self.now = now
        self.instance: Instance | None = None
        self.turns: list[Turn] = []
        self.holders: dict[Waited, int] = {}  # who waits alone in other instances
        self.decisions: dict[str, Decidable] = {}  # by their ids
        self.reads = 0  # times that `Missing` asked for more
        self.clock: Callable[[], float] | None = None  # by which evaluations have deadlines
        self._blocks = iter(range(FIRST_BLOCK, FIRST_BLOCK + 10_000))

    # --- commands --------------------------------------------------------------------------

    def create(self, variables: Mapping[str, Any] | None = None, /, **more: Any) -> Play:
        """Start an instance."""
        values = to_json({**(variables or {}), **more})
        return self.send(CreateInstance(1, 1, self.profile, values))

    def complete(self, what: str, /, **variables: Any) -> Play:
        """Complete the oldest open job of that element or type."""
        return self.send(CompleteJob(self.job(what).key, to_json(variables)))

    def fail(self, what: str, /, **request: Any) -> Play:
        """Report a failure of the oldest open job of that element or type."""
        return self.send(FailJob(self.job(what).key, **request))

    def cancel(self) -> Play:
        """Cancel the instance."""
        return self.send(CancelInstance())

    def set(self, **variables: Any) -> Play:
        """Set variables of the instance."""
        return self.send(SetVariables(to_json(variables)))

    def delete(self, name: str) -> Play:
        """Delete a variable of the instance."""
        return self.send(DeleteVariable(name))

    def resolve(self, element_id: str | None = None, /, **request: Any) -> Play:
        """Resolve the oldest open incident, or that of an element."""
        return self.send(ResolveIncident(self.incident(element_id).key, **request))

    def start_at(self, element_id: str, /, **variables: Any) -> Play:
        """Start an instance by a message or signal that an element catches."""
        values = to_json(variables)
        return self.send(CreateInstance(1, 1, self.profile, values, caught_at=element_id))

    def order(self, what: str, *elements: str | tuple[str, dict[str, Any]], **more: Any) -> Play:
        """Complete the oldest open job of an ad-hoc subprocess with elements to activate; `more`
        is what else the result says, and `values` the variables."""
        values = to_json(more.pop("values", {}))
        result = AdHocResult(activations(*elements), **more)
        return self.send(CompleteJob(self.job(what).key, values, result=result))

    def activate(self, what: str, *elements: str | tuple[str, dict[str, Any]], **more: Any) -> Play:
        """Activate elements of the oldest live ad-hoc subprocess of that id."""
        key = next(e.key for e in self.root.live.values() if e.element_id == what)
        return self.send(ActivateElements(key, activations(*elements), **more))

    def publish(self, name: str, /, **variables: Any) -> Play:
        """Let a message or signal of that name come to the oldest subscription."""
        subscription = next(each for each in self.subscriptions if each.name == name)
        return self.send(Correlate(subscription.key, name, to_json(variables)))

    def wait(self, seconds: float) -> Play:
        """Move the clock, and fire each timer at its second on the way."""
        end = self.now + timedelta(seconds=seconds)
        while (due := min((t.due for t in self.timers), default=end)) <= end and self.timers:
            self.now = max(self.now, due)
            timer = min(self.timers, key=lambda t: (t.due, t.key))
            self.send(FireTimer(timer.key, timer.due))
        self.now = end
        return self

    def send(self, command: Command) -> Play:
        """Decide a command, and all that its turns owe."""
        for _ in range(TURNS_MAX):
            turn = self.turn(command)
            owes = any(isinstance(effect, Send) for effect in turn.effects)
            if turn.done:
                command = Continue()
                if not owes:
                    return self
        raise AssertionError(f"{TURNS_MAX} turns and no end: {command}")

    def turn(self, command: Command) -> Turn:
        """Make one turn and take it over."""
        turn = self._decide(command)
        if turn.changes:
            check(turn, self.process)
            kept = dict(self.instance.records) if self.instance else {}
            if turn.before is not None:
                for gone in turn.before.records.keys() - turn.after.records.keys():
                    del kept[gone]
            kept.update(turn.after.records)
            self.instance = Instance(turn.after.root, kept)
        self.turns.append(turn)
        return turn

    def _decide(self, command: Command) -> Turn:
        instance = self.instance
        spare: list[int] = []
        shown = None if instance is None else self._shown(wanted(command, instance.root))
        start = next(self._blocks) if instance is None else 0
        holders: dict[Waited, int] = {}
        decisions: dict[Called, Decidable | None] = {}
        until = Deadline(self.clock)
        while True:
            moment = Moment(self.now, Draws(str(len(self.turns))).bits, until)
            if instance is None:
                keys = Keys(start, spare=list(spare))
            else:
                root = instance.root
                keys = Keys(root.blocks[-1], root.next_offset, list(spare))
            if isinstance(command, CreateInstance):
                command = command._replace(holders=holders, decisions=decisions)
            elif shown is not None:
                shown = shown._replace(holders=holders, decisions=decisions)
            try:
                return handle(
                    self.process, shown, command, moment=moment, keys=keys, limits=self.limits
                )
            except OutOfKeys:
                spare.append(next(self._blocks))
            except Missing as missing:
                holders |= {each: self._holder(each) for each in missing.waited}
                decisions |= {
                    each: self.decisions.get(each.decision_id) for each in missing.decisions
                }
                if shown is None:
                    continue
                self.reads += bool(missing.keys)
                more = self._shown(missing.keys)
                shown = shown._replace(
                    records={**shown.records, **more.records},
                    absent=shown.absent | more.absent,
                )

    def _shown(self, keys: frozenset[RecordKey]) -> Instance:
        assert self.instance is not None
        records = self.instance.records
        found = {key: records[key] for key in keys if key in records}
        return Instance(self.instance.root, found, frozenset(keys - records.keys()))

    def _holder(self, waited: Waited) -> int:
        """Return who waits alone for a message, in this instance or another one."""
        own = self.subscriptions if self.instance else []
        mine = (each.key for each in own if (each.name, each.correlation_key) == waited)
        return next(mine, self.holders.get(waited, 0))

    # --- questions -------------------------------------------------------------------------

    @property
    def root(self) -> Root:
        """The root of the instance."""
        assert self.instance is not None
        return self.instance.root

    @property
    def state(self) -> InstanceState:
        """The state of the instance."""
        return self.root.state

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of the instance itself."""
        return self.variables_of(self.root.key)

    def variables_of(self, scope: int) -> dict[str, Any]:
        """The variables of a scope; empty if there are none."""
        assert self.instance is not None
        record = self.instance.records.get(RecordKey(Variables, scope))
        return record.values if isinstance(record, Variables) else {}

    def records(self, kind: type[Any]) -> Iterator[Any]:
        """All records of a type, the oldest first."""
        assert self.instance is not None
        for key in sorted(key for key in self.instance.records if key.type is kind):
            yield self.instance.records[key]

    @property
    def jobs(self) -> list[Job]:
        """The jobs that wait for a worker."""
        return [job for job in self.records(Job) if job.state is JobState.ACTIVE]

    @property
    def timers(self) -> list[Timer]:
        """The timers that wait."""
        return list(self.records(Timer))

    @property
    def subscriptions(self) -> list[Subscription]:
        """The subscriptions that wait."""
        return list(self.records(Subscription))

    @property
    def names(self) -> list[tuple[str, str | None]]:
        """The names and correlation keys that are waited for."""
        return [(each.name, each.correlation_key) for each in self.subscriptions]

    @property
    def incidents(self) -> list[Incident]:
        """The incidents that are open."""
        return [i for i in self.records(Incident) if i.resolved_at is None]

    def job(self, what: str) -> Job:
        """The oldest open job of an element or type."""
        for job in self.jobs:
            if what in (job.element_id, job.type):
                return job
        raise AssertionError(f"no open job of {what}, but of {self.open_jobs}")

    def incident(self, element_id: str | None = None) -> Incident:
        """The oldest open incident, or that of an element."""
        for incident in self.incidents:
            if element_id in (None, incident.element_id):
                return incident
        raise AssertionError(f"no open incident of {element_id}, but {self.incidents}")

    @property
    def open_jobs(self) -> list[str]:
        """The element ids of the jobs that wait, in the order they were made."""
        return [job.element_id for job in self.jobs]

    @property
    def waiting(self) -> list[str]:
        """The ids of the elements that wait."""
        return [element.element_id for element in self.root.live.values()]

    @property
    def path(self) -> list[str]:
        """The ids of the elements entered, in order."""
        return [e.element_id for t in self.turns for e in t.history if isinstance(e, Entered)]

    @property
    def flows(self) -> list[str]:
        """The ids of the sequence flows taken, in order."""
        return [e.flow_id for t in self.turns for e in t.history if isinstance(e, Taken)]


def play(
    source: Process | str | bytes | Path,
    *,
    profile: Profile = Profile.ZENBPM,
    limits: Limits = DEFAULT_LIMITS,
    now: datetime = NOW,
) -> Play:
    """Get ready to play a process."""
    return Play(load(source, profile), profile, limits, now)
