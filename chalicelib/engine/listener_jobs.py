"""The jobs of listeners: made one after the other, at a place in the life of what is listened to.

A *place* is the event, and a job is of a place and a number: `start 0` is the first listener of
the beginning. What such a job is given, and what follows when it is done, is said by those who
listen: `execution_listeners.py`, `task_listeners.py`.

Source: contracts/bpmn.md 3.2 (executionListeners, taskListeners).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import Listener
from chalicelib.engine import jobs, retries
from chalicelib.engine.draft import Draft
from chalicelib.engine.element_types import ELEMENT_TYPES
from chalicelib.engine.expressions import Compute, compile_optional, compile_value, extract_text
from chalicelib.engine.state import BPMN, ElementInstance, Job
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


class ListenerPlan(NamedTuple):
    """One listener, with what it names computable."""

    type: Compute
    retries: Compute | None
    headers: Mapping[str, str]


class Place(NamedTuple):
    """Which listener a job is of: the event, and its number among those of the event."""

    event: str
    number: int = 0


Heard = Mapping[str, tuple[ListenerPlan, ...]]


class Given(NamedTuple):
    """What the job of a listener is made with, beside what the model says.

    Shapes: `seen` is for its worker, `headers` beside the model's; `carried` and `local` are kept
        for what follows.
    """

    seen: JsonObject
    carried: JsonObject | None = None
    local: JsonObject | None = None
    headers: Mapping[str, str] = {}


def plans_of(listeners: Iterable[Listener]) -> Heard:
    """Return the plans of listeners by their events, in order."""
    heard: dict[str, tuple[ListenerPlan, ...]] = {}
    for each in listeners:
        plan = ListenerPlan(
            compile_value(each.type),
            compile_optional(each.retries),
            each.headers,
        )
        heard[each.event] = (*heard.get(each.event, ()), plan)
    return heard


def place_of(job: Job) -> Place:
    """Return which listener a job is of."""
    assert job.listener is not None, f"job {job.key} is no listener's"
    event, number = job.listener.split()
    return Place(event, int(number))


def create(draft: Draft, node: Node, element: ElementInstance, place: Place, given: Given) -> Job:
    """Make the job of a listener and ring for it. Raises: Stuck, before anything was made."""
    plan = node.heard[place.event][place.number]
    where = f"listener of {node.id}"
    job = Job(
        key=draft.keys.next(),
        instance_key=draft.key,
        element_id=node.id,
        element_key=element.key,
        scope=draft.shown_scope(element.scope),
        kind=BPMN,
        type=extract_text(plan.type, given.seen, draft.moment, f"job type of a {where}"),
        created_at=draft.now,
        element_type=ELEMENT_TYPES[node.kind],
        retries=retries.counted(draft, plan.retries, given.seen, f"retries of a {where}"),
        ring=1,
        ring_at=draft.now,
        profile=draft.root.profile,
        inputs=given.seen,
        headers={**plan.headers, **given.headers},
        listener=f"{place.event} {place.number}",
        carried=given.carried or None,
        local=given.local or None,
    )
    draft.put(job)
    jobs.ring(draft, job, is_new=True)
    return job


def retries_of(draft: Draft, node: Node, job: Job, seen: JsonObject) -> int:
    """Return the retries that the job of a listener starts with. Raises: Stuck."""
    place = place_of(job)
    plan = node.heard[place.event][place.number]
    return retries.counted(draft, plan.retries, seen, f"retries of a listener of {node.id}")
