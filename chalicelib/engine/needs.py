"""What to read with the root for a command; whatever else turns out to be needed is `Missing`.

It follows from the root alone: which element the command is about, the variables of the scopes on
the way from there to the top, and what is open on those elements, since their end ends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from chalicelib.engine import many
from chalicelib.engine.commands import (
    ActivateElements,
    CancelInstance,
    ChangeTask,
    Command,
    CompleteJob,
    Continue,
    Correlate,
    CreateInstance,
    DeleteVariable,
    EndChild,
    FailChild,
    FailJob,
    FireTimer,
    HearEscalation,
    HearIteration,
    MarkIncident,
    ModifyInstance,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.limits import ACTIONS_MAX
from chalicelib.engine.state import (
    ChildWait,
    ElementInstance,
    Incident,
    Job,
    LoopItems,
    LoopResults,
    RecordKey,
    Root,
    Subscription,
    Timer,
    Variables,
)


def wanted(command: Command, root: Root) -> frozenset[RecordKey]:
    """Return the keys of the records that the decision will most likely look at."""
    return frozenset((*_subject(command), *_around(command, root), *_agenda(root)))


def _subject(command: Command) -> Iterator[RecordKey]:
    """Name the record that the command itself names."""
    match command:
        case CompleteJob() | FailJob():
            yield RecordKey(Job, command.job_key)
        case ChangeTask():
            yield RecordKey(Job, command.task_key)
        case FireTimer():
            yield RecordKey(Timer, command.timer_key)
        case Correlate():
            yield RecordKey(Subscription, command.subscription_key)
        case EndChild() | FailChild() | HearEscalation() | HearIteration():
            yield RecordKey(ChildWait, command.child)
        case ResolveIncident() | MarkIncident():
            yield RecordKey(Incident, command.incident_key)
        case CreateInstance() | CancelInstance() | Continue() | SetVariables() | DeleteVariable():
            pass
        case ModifyInstance() | ActivateElements():
            pass


def _around(command: Command, root: Root) -> Iterator[RecordKey]:
    """Name what is open on the element the command is about and on the scopes around it."""
    match command:
        case SetVariables(scope=scope) | DeleteVariable(scope=scope):
            yield RecordKey(Variables, scope or root.key)
        case ModifyInstance(scope=scope, terminate=victims):
            yield from _outwards(scope or root.key, root)
            for key in victims[:ACTIONS_MAX]:
                if key in root.live:
                    yield from _open_on(root.live[key], root)
        case ActivateElements(key=key):
            yield from _outwards(key, root)
        case MarkIncident():
            pass
        case CancelInstance():
            for victim in islice(root.live.values(), ACTIONS_MAX):
                yield from _open_on(victim, root)
        case _:
            element = _element_of(command, root)
            if element is not None:
                yield from _open_on(element, root)
                around = _outwards(element.scope, root)
                # The end of a part of a body rarely concerns the top's variables, which are long.
                is_part = isinstance(command, EndChild) and element.loop > 0
                top = RecordKey(Variables, root.key)
                yield from (key for key in around if not (is_part and key == top))
                yield from _results(command, element, root)


def _results(command: Command, element: ElementInstance, root: Root) -> Iterator[RecordKey]:
    """Name where the result goes of an iteration that a command completes, as it does nothing but
    this element, if the results of its body are not in the root."""
    around = root.live.get(element.scope)
    if around is None or not around.loop:
        return
    body = root.bodies[around.scope]
    if body.results is None and isinstance(command, CompleteJob | Correlate | EndChild):
        yield RecordKey(LoopResults, many.results_key(around.scope, around.loop, body.total))


def _agenda(root: Root) -> Iterator[RecordKey]:
    for scope in {move.scope for move in root.agenda}:
        yield from _outwards(scope, root)


def _element_of(command: Command, root: Root) -> ElementInstance | None:
    match command:
        case CompleteJob(job_key=key) | FailJob(job_key=key) | ChangeTask(task_key=key):
            return next((e for e in root.live.values() if key in (e.job, e.listener)), None)
        case FireTimer(timer_key=key):
            return next((e for e in root.live.values() if key in e.timers), None)
        case Correlate(subscription_key=key):
            return next((e for e in root.live.values() if key in e.subscriptions), None)
        case (
            EndChild(child=key)
            | FailChild(child=key)
            | HearEscalation(child=key)
            | HearIteration(child=key)
        ):
            return next((e for e in root.live.values() if e.child == key), None)
        case ResolveIncident(incident_key=key):
            return next((e for e in root.live.values() if e.incident == key), None)
        case _:
            return None


def _outwards(scope: int, root: Root) -> Iterator[RecordKey]:
    """Name a scope's variables and what is open on its element, and so on to the top."""
    while scope != root.key and scope in root.live:
        element = root.live[scope]
        yield from _open_on(element, root)
        scope = element.scope
    yield RecordKey(Variables, root.key)


def _open_on(element: ElementInstance, root: Root) -> Iterator[RecordKey]:
    body = root.bodies.get(element.key)
    if element.is_untouched:
        yield RecordKey(LoopItems, element.scope)
    elif body is not None and not body.owns_variables:
        pass
    elif element.tokens or element.incident is not None:
        yield RecordKey(Variables, element.key)
    for job in element.jobs:
        yield RecordKey(Job, job)
    if element.incident is not None:
        yield RecordKey(Incident, element.incident)
    if element.child:
        yield RecordKey(ChildWait, element.child)
    for timer in element.timers:
        yield RecordKey(Timer, timer)
    for subscription in element.subscriptions:
        yield RecordKey(Subscription, subscription)
