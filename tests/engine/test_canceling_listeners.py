"""A user task that is cancelled ends when its listeners were heard."""

from __future__ import annotations

from chalicelib.engine.commands import ChangeTask, CompleteJob, FailJob, ModifyInstance
from chalicelib.engine.state import InstanceState, JobState
from chalicelib.engine.turn import Terminated
from chalicelib.errors import Reason
from chalicelib.profile import Profile
from tests.bpmn.models import line as line_of
from tests.engine.models import boundary, end, process, service, start, sub
from tests.engine.tasks import (
    CLAIMED,
    FREE,
    answer,
    do,
    game,
    listeners,
    refused,
    task,
    types,
)
from tests.play import play


def test_a_task_is_cancelled_while_its_listener_is_at_work() -> None:
    played = game(f"{CLAIMED}{listeners('completing')}")
    do(played)

    assert ([], InstanceState.TERMINATED) == (played.cancel().jobs, played.state)


def test_listeners_of_its_end_come_before_a_task_is_cancelled_and_nothing_else_goes_on() -> None:
    played = game(f"{CLAIMED}{listeners('completing', 'canceling', 'canceling')}")
    do(played)

    played.cancel()
    assert (["canceling"], InstanceState.TERMINATING) == (types(played), played.state)
    assert Reason.INVALID_STATE == refused(played, ChangeTask(task(played).key, {})).reason
    answer(played, "canceling", priority=9)
    assert InstanceState.TERMINATING == played.state
    answer(played, "canceling")

    assert (InstanceState.TERMINATED, JobState.TERMINATED, 9) == (
        played.state,
        task(played).state,
        task(played).priority,
    )
    ended = [e.key for turn in played.turns for e in turn.history if isinstance(e, Terminated)]
    assert [task(played).element_key] == ended


def user_task(heard: str, name: str = "a") -> str:
    extensions = f"<extensionElements>{FREE}{heard}</extensionElements>"
    return f'<userTask id="{name}">{extensions}</userTask>'


def test_a_boundary_event_goes_on_when_the_listeners_were_heard() -> None:
    parts = (start(), user_task(listeners("canceling")), boundary("late", "a", duration="PT1M"))
    model = process(*parts, end(), service("l"), flows="start > a > end; late > l")
    played = play(model, profile=Profile.PRIOSTACK).create().wait(60)

    assert (["canceling"], []) == (types(played), played.timers)
    assert ["l"] == types(answer(played, "canceling"))


def test_a_task_deep_inside_is_heard_while_what_is_around_it_ends() -> None:
    inner = sub("s", start("i"), user_task(listeners("canceling", "canceling")), flows="i > a")
    parts = (start(), inner, boundary("late", "s", duration="PT1M"), end(), service("l"))
    model = process(*parts, flows="start > s > end; late > l")
    played = play(model, profile=Profile.PRIOSTACK).create(x=1).wait(60)

    assert ["canceling"] == types(played)
    assert 1 == played.job("canceling").inputs["x"]
    assert ["canceling"] == types(answer(played, "canceling"))
    assert ["l"] == types(answer(played, "canceling"))


def test_many_tasks_are_heard_each_before_their_body_ends() -> None:
    loop = (
        "<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics "
        'inputCollection="=[1, 2]" inputElement="n"/></extensionElements>'
        "</multiInstanceLoopCharacteristics></userTask>"
    )
    many = user_task(listeners("canceling")).replace("</userTask>", loop)
    played = play(line_of(many), profile=Profile.PRIOSTACK).create().cancel()

    jobs = [job for job in played.jobs if job.type == "canceling"]
    assert [1, 2] == [job.inputs["n"] for job in jobs]
    for job in jobs:
        played.send(CompleteJob(job.key))
    assert InstanceState.TERMINATED == played.state


def test_a_listener_of_the_end_that_cannot_be_made_holds_it_up_until_it_can() -> None:
    played = game(f"{FREE}{listeners('canceling', type_='=kind')}").cancel()

    assert ("EXTRACT_VALUE_ERROR", InstanceState.TERMINATING) == (
        played.incident().error_type,
        played.state,
    )
    played.resolve(variables={"kind": "late"})
    assert (["late"], []) == (types(played), played.incidents)
    assert InstanceState.TERMINATED == answer(played, "late").state


def test_an_error_of_a_listener_of_the_end_is_an_incident() -> None:
    played = game(f"{FREE}{listeners('canceling')}").cancel()
    (job,) = [job for job in played.jobs if job.type == "canceling"]

    played.send(FailJob(job.key, error_code="e"))
    assert "UNHANDLED_ERROR_EVENT" == played.incident().error_type
    assert InstanceState.TERMINATED == answer(played.resolve(), "canceling").state


def test_an_operator_who_withdraws_a_task_does_not_wait_for_its_listeners() -> None:
    played = game(f"{FREE}{listeners('canceling')}")

    played.send(ModifyInstance(terminate=(task(played).element_key,)))

    assert (InstanceState.TERMINATED, []) == (played.state, played.jobs)
