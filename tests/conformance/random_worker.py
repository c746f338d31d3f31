"""A worker, a person, a publisher and an operator in one, who do whatever an instance waits for.

What they do, and with which variables, is chance of a seed. Of the model they know what anybody
can read in it: the names in its expressions, and the codes of its errors.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial

from chalicelib import feel
from chalicelib.bpmn.model import Element, EventType, Process, SequenceFlow, Value
from chalicelib.engine.job_results import Activation, AdHocResult, JobResult
from chalicelib.engine.state import (
    USER_TASK,
    ChildWait,
    Incident,
    Instance,
    InstanceState,
    Job,
    JobState,
    Record,
    Subscription,
    Timer,
)
from chalicelib.errors import Rejected
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.operations import messages, signals, user_tasks
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.jobs import complete_job
from chalicelib.operations.messages import Message
from chalicelib.profile import Profile
from chalicelib.store import instances, rows, start_timers
from chalicelib.store.definitions import Definition
from tests.operations.stage import Stage

STEPS_MAX = 400  # of one instance; those of other people's models take a tenth of it
KINDS = ("boolean", "text", "list", "number", "context")  # of values, as messages call them
ACTIVE = (InstanceState.ACTIVE, InstanceState.TERMINATING)

Act = Callable[[], object]


def expressions(part: object) -> Iterator[str]:
    """Yield the texts of all FEEL expressions within a part of a model."""
    if isinstance(part, Value):
        if part.is_feel:
            yield part.text
    elif isinstance(part, SequenceFlow):
        if part.condition is not None:
            yield part.condition.text
    elif is_dataclass(part):
        yield from (
            each for field in fields(part) for each in expressions(getattr(part, field.name))
        )
        if isinstance(script := getattr(part, "expression", None), str):
            yield script
    elif isinstance(part, tuple | list):
        yield from (each for inner in part for each in expressions(inner))


def names_of(process: Process) -> set[str]:
    """Return the names of the variables that a process may ask for."""
    texts = expressions([*process.elements.values(), *process.flows.values()])
    return {name for text in texts for name in feel.parse(text).names}


def members_of(process: Process) -> set[str]:
    """Return the names that a process may ask for in a variable."""
    texts = expressions([*process.elements.values(), *process.flows.values()])
    return {name for text in texts for name in re.findall(r"\.([^\W\d]\w*)", text)}


def codes_of(process: Process) -> list[str]:
    """Return the codes of the errors that a process catches, and one that nobody does."""
    return ["nobody's", *sorted({e.error_code for e in process.elements.values() if e.error_code})]


def steered_by(process: Process) -> Iterator[tuple[str, list[str]]]:
    """Yield the id of each ad-hoc subprocess, with those of the elements it may activate."""
    for element in process.elements.values():
        if element.ad_hoc is not None:
            yield element.id, [str(each["elementId"]) for each in element.ad_hoc.activatable]


class RandomWorker:
    """Drives one instance, and the children it has, to its end."""

    def __init__(
        self, stage: Stage, processes: Sequence[Process], profile: Profile, seed: int
    ) -> None:
        self.stage = stage
        self.profile = profile
        self.dice = random.Random(seed)
        self.names = sorted({name for process in processes for name in names_of(process)})
        self.members = sorted({name for process in processes for name in members_of(process)})
        self.codes = sorted({code for process in processes for code in codes_of(process)})
        self.steered = {id_: ids for process in processes for id_, ids in steered_by(process)}
        self.key = 0

    # --- what is invented ------------------------------------------------------------------

    def value(self, kind: str = "") -> JsonValue:
        """Invent a value: of a kind that a model may ask for, or of any of them."""
        match kind or self.dice.choice(KINDS):
            case "boolean":
                return self.dice.random() < 0.5
            case "text":
                return f"text-{self.dice.randrange(200)}"
            case "context":
                return {name: self.value(self.dice.choice(KINDS[:-1])) for name in self.members}
            case "list":
                return [f"item-{number}" for number in range(self.dice.randrange(4))]
            case _:
                return Decimal(self.dice.randrange(200))

    def variables(self, names: Sequence[str] = (), kind: str = "") -> JsonObject:
        """Invent variables: those that are named, or some of those that the model asks for."""
        chosen = names or [name for name in self.names if self.dice.random() < 0.5]
        return {name: self.value(kind) for name in chosen}

    # --- starting --------------------------------------------------------------------------

    def start(self, definition: Definition, event: Element) -> int:
        """Let a start event happen; return the key of the instance that it started."""
        act = self._happening(definition, event)
        if act is None:
            return self.stage.create(definition, **self.variables())
        known = {instance.key for instance in all_instances(self.stage)}
        act()
        self.settle()
        (key,) = {instance.key for instance in all_instances(self.stage)} - known
        return key

    def _happening(self, definition: Definition, event: Element) -> Act | None:
        """Return what lets a start event happen; None if instances are created at it."""
        name = "" if event.event_name is None else event.event_name.name.text
        match event.event_type:
            case EventType.MESSAGE | EventType.SIGNAL:
                return self._happens(event.event_type, name, None)
            case EventType.TIMER:
                process_id = definition.bpmn_process_id
                starts = start_timers.read(self.stage.table, self.profile, process_id)
                assert starts is not None, f"{process_id} was deployed with timers"
                return partial(self.leap, starts.timers[event.id].due)
            case _:
                return None

    # --- driving ---------------------------------------------------------------------------

    def drive(self, key: int, steps_max: int = STEPS_MAX) -> str:
        """Do one thing after another until the instance has ended, or nobody can do anything.

        Returns: "completed", or what it waits for still.
        """
        self.key = key
        for _ in range(steps_max):
            self.settle()
            acts = list(self.acts())
            if not acts:
                break
            try:
                self.dice.choice(acts)()
            except Rejected as rejected:
                raise AssertionError(
                    f"nobody else was there, but: {rejected.message}"
                ) from rejected
        state = self.stage.state(key)
        return "; ".join(sorted(self.waits())) if state in ACTIVE else state.value

    def settle(self) -> None:
        """Let the functions behind the queues serve all that is visible."""
        while self.stage.pump():
            pass

    def leap(self, to: datetime) -> None:
        """Let the time pass until a moment."""
        self.stage.clock.move(max(0.0, (to - self.stage.clock.now()).total_seconds()))
        self.settle()

    # --- what can be done ------------------------------------------------------------------

    def acts(self) -> Iterator[Act]:
        """Yield what can be done about all that the instance and its children wait for."""
        for instance in self.family():
            for record in instance.records.values():
                act = self.act(record)
                if act is not None:
                    yield act

    def act(self, record: Record) -> Act | None:
        """Return what can be done about a record; None if nothing is waited for."""
        match record:
            case Job(state=JobState.ACTIVE):
                return self._at_job(record)
            case Incident(resolved_at=None):
                return partial(self.mend, record)
            case Timer():
                return partial(self.leap, record.due)
            case Subscription():
                return self._happens(record.kind, record.name, record.correlation_key)
            case _:
                return None

    def _at_job(self, job: Job) -> Act:
        free = max(filter(None, (job.retry_at, job.lock_until)), default=None)
        if free is not None and free > self.stage.clock.now():
            return partial(self.leap, free)
        return partial(self.be_person if job.kind == USER_TASK else self.work, job)

    def _happens(self, kind: EventType, name: str, key: str | None) -> Act:
        """Return how a message is published, or a signal broadcast, with invented variables."""
        ports, values = self.stage.ports, self.variables()
        if kind is EventType.SIGNAL:
            return partial(signals.broadcast_signal, ports, name, values)
        return partial(messages.publish_message, ports, Message(name, key, values, self.profile))

    def work(self, job: Job) -> None:
        """Claim a job, and complete it, fail it, or throw an error."""
        claimed = self.stage.claim(job.key)
        match self.dice.randrange(7):
            case 0:
                self.stage.fail(claimed, retries=self.dice.choice([None, 0, 1]))
            case 1 | 2:
                code = self.dice.choice(self.codes)
                self.stage.fail(claimed, error_code=code, variables=self.variables())
            case _:
                result = self.result(job)
                complete_job(self.stage.ports, job.key, self.variables(), result=result)

    def result(self, job: Job) -> JobResult | None:
        """Order how an ad-hoc subprocess goes on, if the job is one's; None for any other."""
        steered = self.steered.get(job.element_id)
        if steered is None:
            return None
        if self.dice.random() < 0.5:
            return AdHocResult(is_fulfilled=True, cancels_remaining=self.dice.random() < 0.5)
        return AdHocResult((Activation(self.dice.choice(steered), self.variables()),))

    def be_person(self, task: Job) -> None:
        """Claim a user task, or complete what is claimed."""
        if task.assignee is None:
            user_tasks.claim_user_task(self.stage.ports, task.key, "ann")
        else:
            user_tasks.complete_user_task(self.stage.ports, task.key, self.variables())

    def mend(self, incident: Incident) -> None:
        """Resolve an incident with other values: by guess, or as its message asks for them."""
        values = self.variables()
        if "has no '" in incident.message:
            values = self.variables(kind="context")
        elif self.dice.random() < 0.7:
            named = [name for name in self.names if name in incident.message]
            kind = next((kind for kind in KINDS if f"expected a {kind}" in incident.message), "")
            values = self.variables(named, kind)
        resolve_incident(self.stage.ports, incident.key, Mended(variables=values))

    # --- what there is ---------------------------------------------------------------------

    def family(self) -> Iterator[Instance]:
        """Yield the instance and its children, as far as they have not ended."""
        keys = [self.key]
        for key in keys:
            instance = instances.load(self.stage.table, key, None)
            if instance is not None and instance.root.state in ACTIVE:
                keys += _children(instance)
                yield instance

    def waits(self) -> Iterator[str]:
        """Yield what is waited for, in words."""
        for instance in self.family():
            for record in instance.records.values():
                if self.act(record) is not None:
                    text = record.message if isinstance(record, Incident) else ""
                    place = getattr(record, "element_id", "")
                    yield " ".join([type(record).__name__, "at", place, text]).strip()

    def left(self) -> list[str]:
        """Return what still waits of any instance, in words; nothing but for other roots."""
        return [
            f"{instance.key}: {type(record).__name__}"
            for instance in all_instances(self.stage)
            for record in instance.records.values()
            if instance.root.state not in ACTIVE and self.act(record) is not None
        ]

    def entered(self) -> set[str]:
        """Return the ids of the elements that the instance has entered."""
        return {row.element_id for row in rows.element_rows(self.stage.table, self.key).values()}


def all_instances(stage: Stage) -> list[Instance]:
    """Return every instance there is, the oldest first."""
    items = stage.table.scan(0, 1).items
    keys = {int(str(item["pk"])[2:]) for item in items if str(item["pk"]).startswith("I#")}
    return [stage.instance(key) for key in sorted(keys)]


def _children(instance: Instance) -> list[int]:
    return [record.key for record in instance.records.values() if isinstance(record, ChildWait)]
