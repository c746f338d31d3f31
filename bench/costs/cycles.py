"""Life cycles of jobs, run through an account in its steady state, and what each of them uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from bench.costs.account import Account, Stored
from bench.costs.units import Unit, times, total
from chalicelib import json_text
from chalicelib.delivery.promise import job_queue
from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile
from chalicelib.store import instances

TYPES = ("reserve", "charge", "ship")
VARIABLES: JsonObject = {"order": "A-4711", "amount": 12, "customer": "c-0815"}
LOCK_PASSES_S = 31.0  # the default lock's 30 s: its bell is in the queue of the next round
TIMER_S = 3_600
STEP_S = 10.0
ROUNDS = 3  # that are counted, after one that fills the container's memory
GIVE_UP = 100  # steps or polls of one round
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:costs">'
)


class Shape(StrEnum):
    """What happens to an instance of three tasks in a row."""

    PLAIN = "three tasks"
    TIMED = "three tasks and a timer of an hour"
    FAILED = "three tasks, the first of which fails once"


class Worker(StrEnum):
    """How jobs come to workers."""

    HTTP = "HTTP workers"  # that activate by a long poll
    LAMBDA = "Lambda workers"  # that their queue wakes, and that claim by key


MIX: Mapping[Shape, float] = {Shape.PLAIN: 0.88, Shape.TIMED: 0.10, Shape.FAILED: 0.02}


@dataclass(frozen=True)
class Counted:
    """What one job uses, of all that its instance does, and what an instance leaves behind."""

    use: dict[Unit, float]
    stored: Stored
    body_bytes: float  # of the requests of an instance
    series: frozenset[Any]
    worked_ms: float  # of this machine's processor, by invocation

    def at(self, unit: Unit) -> float:
        return self.use.get(unit, 0.0)


def count(worker: Worker, batch: int, ttl_s: int = 0, shape: Shape = Shape.PLAIN) -> Counted:
    """Run instances of a shape, `batch` at a time, and return what one job of them used."""
    with Account(ttl_s).opened() as account:
        deployed = account.call("POST", "/v1/process-definitions", model(shape), **XML).json
        round_ = _Round(account, worker, batch, int(deployed["processDefinitionKey"]), shape)
        round_.run()
        account.used()
        before = account.stored()
        account.meter.body_bytes = 0
        for _ in range(ROUNDS):
            round_.run()
        use, instances = account.used(), ROUNDS * batch
        left = zip(account.stored(), before, strict=True)
        return Counted(
            use=times(use, 1 / (instances * len(TYPES))),
            stored=Stored(*((after - earlier) / instances for after, earlier in left)),
            body_bytes=account.meter.body_bytes / instances,
            series=frozenset(account.meter.series),
            worked_ms=account.meter.worked_s * 1_000 / account.meter.invocations,
        )


def count_mix(worker: Worker, batch: int, ttl_s: int = 0) -> Counted:
    """Return what one job uses on average of the mix."""
    parts = [(share, count(worker, batch, ttl_s, shape)) for shape, share in MIX.items()]

    def mean(of: Callable[[Counted], float]) -> float:
        return sum(share * of(part) for share, part in parts)

    return Counted(
        use=total(times(part.use, share) for share, part in parts),
        stored=Stored(
            mean(lambda part: part.stored.live),
            mean(lambda part: part.stored.history),
            mean(lambda part: part.stored.scanned),
        ),
        body_bytes=mean(lambda part: part.body_bytes),
        series=frozenset().union(*(part.series for _, part in parts)),
        worked_ms=mean(lambda part: part.worked_ms),
    )


def count_empty_poll() -> dict[Unit, float]:
    """Return what one long poll of 20 s uses that nothing comes of."""
    with Account().opened() as account:
        account.call("POST", "/v1/process-definitions", model(Shape.PLAIN), **XML)
        account.used()
        _activate(account, TYPES[0], 1, "PT20S")
        return account.used()


XML = {"content-type": "application/xml"}


def model(shape: Shape) -> bytes:
    """Return a process of three tasks in a row, with a timer after the first if it is timed."""
    nodes = [_task(type_) for type_ in TYPES]
    ids = list(TYPES)
    if shape is Shape.TIMED:
        nodes.append(
            '<intermediateCatchEvent id="pause"><timerEventDefinition><timeDuration>'
            f"PT{TIMER_S}S</timeDuration></timerEventDefinition></intermediateCatchEvent>"
        )
        ids.insert(1, "pause")
    path = ["start", *ids, "end"]
    flows = [
        f'<sequenceFlow id="f{number}" sourceRef="{source}" targetRef="{target}"/>'
        for number, (source, target) in enumerate(pairwise(path))
    ]
    body = "".join(['<startEvent id="start"/>', *nodes, '<endEvent id="end"/>', *flows])
    return f'{HEAD}<process id="order" isExecutable="true">{body}</process></definitions>'.encode()


def _task(type_: str) -> str:
    return (
        f'<serviceTask id="{type_}"><extensionElements><zeebe:taskDefinition type="{type_}" '
        'retries="3" retryBackoff="PT5S"/></extensionElements></serviceTask>'
    )


class _Round:
    """Starts some instances and works them to their end."""

    def __init__(
        self, account: Account, worker: Worker, batch: int, definition: int, shape: Shape
    ) -> None:
        self._account = account
        self._batch = batch
        self._definition = definition
        self._shape = shape
        self._hand_out = self._polled if worker is Worker.HTTP else self._woken

    def run(self) -> None:
        body: JsonObject = {"processDefinitionKey": self._definition, "variables": VARIABLES}
        keys = [
            int(self._account.call("POST", "/v1/process-instances", body).json["key"])
            for _ in range(self._batch)
        ]
        for number, type_ in enumerate(TYPES):
            if number == 0 and self._shape is Shape.FAILED:
                self._all(type_, self._fail)
                self._account.clock.move(5.0)
            if number == 1 and self._shape is Shape.TIMED:
                self._pass(TIMER_S)
            self._all(type_, self._complete)
            self._account.clock.move(1.0)
            self._account.pump(self._batch)
        self._pass(LOCK_PASSES_S)
        states = {self._state(key) for key in keys}
        if states != {"completed"}:
            raise RuntimeError(f"expected all instances to be completed, found {states}")

    def _all(self, type_: str, act: Callable[[Any], None]) -> None:
        """Hand out and act until every instance's job of a type is done with."""
        done = 0
        for _ in range(GIVE_UP):
            for job in self._hand_out(type_):
                act(job)
                done += 1
            if done == self._batch:
                return
        raise RuntimeError(f"expected {self._batch} jobs of {type_}, found {done}")

    def _polled(self, type_: str) -> Iterator[Any]:
        yield from _activate(self._account, type_, self._batch, "PT20S")

    def _woken(self, type_: str) -> Iterator[Any]:
        queue = job_queue(self._account.ports, "bpmn", type_, Profile.ZENBPM)
        received = self._account.take(queue, self._batch)
        for message in received:
            bell: Any = json_text.loads(message.body)
            body: JsonObject = {"clientId": "lambda", "bell": message.body}
            answer = self._account.call("POST", f"/v1/jobs/{bell['job']}/claim", body)
            if answer.status == 200:
                yield answer.json
        self._account.done(queue, [message.receipt for message in received])

    def _complete(self, job: Any) -> None:
        self._account.call("POST", f"/v1/jobs/{job['key']}/complete", {"variables": {"paid": True}})

    def _fail(self, job: Any) -> None:
        body: JsonObject = {"message": "no card", "deliveryToken": job["deliveryToken"]}
        self._account.call("POST", f"/v1/jobs/{job['key']}/fail", body)

    def _pass(self, seconds: float) -> None:
        """Let time pass, and functions and schedules do what falls due."""
        for _ in range(round(seconds / STEP_S)):
            self._account.clock.move(STEP_S)
            self._account.pump(self._batch)

    def _state(self, key: int) -> str:
        """Look at an instance without a request."""
        found = instances.load(self._account.items, key)
        return found.root.state.value if found else "missing"


def _activate(account: Account, type_: str, max_jobs: int, wait_for: str) -> list[Any]:
    body: JsonObject = {"type": type_, "maxJobs": max_jobs, "waitFor": wait_for}
    return list(account.call("POST", "/v1/jobs/activate", body).json["jobs"])
