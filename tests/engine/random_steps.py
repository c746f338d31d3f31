"""What happens at random to an instance: workers, children, operators, messages and time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from hypothesis import strategies as st

from chalicelib.bpmn.model import Kind
from chalicelib.engine.commands import (
    ActivateElements,
    CancelInstance,
    Command,
    CompleteJob,
    Continue,
    Correlate,
    EndChild,
    FailChild,
    FailJob,
    FireTimer,
    ModifyInstance,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.job_results import AdHocResult
from chalicelib.engine.state import ChildWait, ElementInstance, Incident, InstanceState, Job
from chalicelib.errors import Reason, Rejected
from tests.engine.blocks import ENOUGH
from tests.play import Play, activations, to_json

COMPLETED, TERMINATED = InstanceState.COMPLETED, InstanceState.TERMINATED


def step(game: Play, data: st.DataObject) -> None:
    """Do one thing that gets the instance on: a worker's, an operator's, or time's."""
    choices: list[object] = [*free_jobs(game), *game.incidents, *game.records(ChildWait)]
    choices += game.subscriptions
    if game.timers:
        choices.append("time")
    if not choices or data.draw(st.integers(0, 9)) == 0:
        choices.append("variables")
    chosen = data.draw(st.sampled_from(choices))
    if chosen == "time":
        game.wait(data.draw(st.integers(1, 12)))
        return
    command = data.draw(about(game, chosen))
    game.send(command)
    if data.draw(st.integers(0, 4)) == 0 and not isinstance(command, FailJob | SetVariables):
        repeat(game, command)


def repeat(game: Play, command: Command) -> None:
    """Let a command come once more: it is refused, or changes nothing."""
    before = game.instance
    with suppress(Rejected):
        game.send(command)
    assert before is game.instance, command


def about(game: Play, what: object) -> st.SearchStrategy[Command]:
    """Return what may be done about something that waits."""
    values = st.dictionaries(st.sampled_from("cxy"), st.integers(0, ENOUGH)).map(to_json)
    payload = st.dictionaries(st.sampled_from("xy"), st.integers(0, 2)).map(to_json)
    match what:
        case Job():
            code = "E" if "caught" in what.element_id else ""
            failed = st.just(FailJob(what.key, "no", code))
            completed = st.builds(
                CompleteJob,
                st.just(what.key),
                st.just({}) if is_beside_task(game, what) else values,
                kind=st.just(what.kind),
                result=orders(game, what),
            )
            return st.one_of(failed, completed, completed, completed)
        case Incident():
            return st.just(ResolveIncident(what.key))
        case ChildWait():
            return children(game, what)
        case "variables":
            return values.map(SetVariables)
        case _:
            subscription = next(each for each in game.subscriptions if each is what)
            key, name = subscription.key, subscription.name
            return payload.map(lambda found: Correlate(key, name, found))


def free_jobs(game: Play) -> list[Job]:
    """Return the jobs that wait, but for user tasks whose listeners have to answer first."""
    return [job for job in game.jobs if job.transition is None]


def is_beside_task(game: Play, job: Job) -> bool:
    """Say whether a job is that of a listener of a user task, which gives no variables."""
    return game.root.live[job.element_key].listener == job.key


def orders(game: Play, job: Job) -> st.SearchStrategy[AdHocResult | None]:
    """Return what a worker may say besides: nothing, unless it steers an ad-hoc subprocess."""
    ids = ids_in(game, job.element_id)
    if not ids:
        return st.none()
    some = st.lists(st.sampled_from(ids), max_size=2).map(lambda chosen: activations(*chosen))
    return st.one_of(
        st.builds(AdHocResult, some, cancels_remaining=st.booleans()),
        st.builds(AdHocResult, is_fulfilled=st.just(True), cancels_remaining=st.booleans()),
    )


def ids_in(game: Play, element_id: str) -> list[str]:
    """Return the ids of what can be activated in an element; none if it is not ad-hoc."""
    definition = game.process.elements[element_id].ad_hoc
    return [str(each["elementId"]) for each in definition.activatable] if definition else []


def children(game: Play, wait: ChildWait) -> st.SearchStrategy[Command]:
    """Return how a child may end: as it was asked to, or in any way."""
    cancelled: Command = EndChild(wait.key, TERMINATED)
    if game.root.live[wait.element_key].is_ending:
        return st.just(cancelled)
    ends: list[Command] = [
        EndChild(wait.key, COMPLETED),
        EndChild(wait.key, COMPLETED, to_json({"c": 2, "x": 1})),
        EndChild(wait.key, TERMINATED, {}, "E"),
        FailChild(wait.key, "there is no such process"),
        cancelled,
    ]
    return st.sampled_from(ends)


def finish(game: Play, steps_max: int = 150) -> None:
    """Do their best, all of them, until the instance has ended."""
    for _ in range(steps_max):
        if game.state is not InstanceState.ACTIVE:
            return
        for command in best(game):
            try:
                game.send(command)
            except Rejected as rejected:  # one of these ended what another is about
                assert rejected.reason in (Reason.NOT_FOUND, Reason.INVALID_STATE), rejected
        game.wait(1)
    raise AssertionError(f"{steps_max} steps and no end: {game.waiting}, {game.incidents}")


def best(game: Play) -> Iterator[Command]:
    """Yield what gets everything on that waits, as it is now."""
    for scope in {each.scope for each in game.root.live.values()}:  # some see their own c alone
        yield SetVariables(to_json({"c": ENOUGH}), scope)
    yield from [ResolveIncident(each.key) for each in game.incidents]
    yield from [Correlate(each.key, each.name) for each in game.subscriptions]
    for wait in list(game.records(ChildWait)):
        is_ending = game.root.live[wait.element_key].is_ending
        yield EndChild(wait.key, TERMINATED if is_ending else COMPLETED)
    for job in free_jobs(game):
        result = AdHocResult(is_fulfilled=True) if ids_in(game, job.element_id) else None
        yield CompleteJob(job.key, result=result, kind=job.kind)
    for each in empty(game):
        yield ActivateElements(each.key, activations(ids_in(game, each.element_id)[0]))


def empty(game: Play) -> list[ElementInstance]:
    """Return the ad-hoc subprocesses in which nothing is active, and that nobody steers now."""
    live = [e for e in game.root.live.values() if not (e.tokens or e.job or e.incident)]
    elements = game.process.elements
    return [e for e in live if elements[e.element_id].kind is Kind.AD_HOC_SUB_PROCESS]


def modifications(game: Play) -> st.SearchStrategy[Command]:
    """Return what an operator may take away, and put elsewhere."""
    live = [e.key for e in game.root.live.values()] or [1]
    return st.builds(
        ModifyInstance,
        st.lists(st.sampled_from(sorted(game.process.elements)), max_size=2).map(tuple),
        st.lists(st.sampled_from(live), max_size=2).map(tuple),
        scope=st.none() | st.sampled_from(live),
    )


@st.composite
def commands(draw: st.DrawFn, game: Play) -> Command:
    """Any command at all, most of them about something that exists or existed."""
    jobs, incidents = list(game.records(Job)), list(game.records(Incident))
    keys = [job.key for job in jobs] or [1]
    options: list[st.SearchStrategy[Command]] = [
        st.builds(CompleteJob, st.sampled_from(keys)),
        st.builds(
            FailJob,
            st.sampled_from(keys),
            error_code=st.sampled_from(["", "E"]),
            retries=st.none() | st.integers(-1, 3),
            token=st.none() | st.integers(-1, 2),
        ),
        st.builds(ResolveIncident, st.sampled_from([i.key for i in incidents] or [1])),
        st.just(CancelInstance()),
        st.just(Continue()),
        st.builds(SetVariables, st.just(to_json({"c": 2}))),
        modifications(game),
        *(about(game, what) for what in (*game.subscriptions, *game.records(ChildWait))),
    ]
    if game.timers:
        due = st.sampled_from([timedelta(0), timedelta(seconds=1)])
        one = st.sampled_from(game.timers)
        options.append(st.builds(lambda t, d: FireTimer(t.key, t.due + d), one, due))
    return draw(st.one_of(options))
