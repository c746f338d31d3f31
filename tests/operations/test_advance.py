"""Advancing an instance: promised before it is committed, decided again when it lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.delivery import bells
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.delivery.promise import TYPES_MAX
from chalicelib.engine.commands import (
    CancelInstance,
    CompleteJob,
    Continue,
    FireTimer,
    SetVariables,
)
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import Incident, InstanceState, JobState, RecordKey, Timer
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from chalicelib.operations.advance import advance
from chalicelib.ports import Settings
from chalicelib.store import history
from tests.engine.models import many, process, service, start, sub
from tests.operations.models import script_then_task, task_then_typed, wide_fork
from tests.operations.stage import Stage
from tests.operations.watched import Crash, Fault, die, fault, watched


def test_an_instance_runs_from_its_start_to_its_end() -> None:
    stage = Stage()

    key = stage.create("sequence.bpmn", amount=5)
    for type_ in ("reserve", "charge", "ship"):
        assert InstanceState.ACTIVE == stage.state(key)
        stage.work(type_)

    assert InstanceState.COMPLETED == stage.state(key)


def test_what_is_owed_is_promised_before_it_is_committed() -> None:
    stage = Stage()
    definition = stage.deploy("sequence.bpmn")
    stage.ports, watch = watched(stage.ports)

    key = stage.create(definition)
    stage.complete(stage.jobs_of(key)[0])

    order = [name for name, _ in watch.calls if name in {"queues.send", "table.transact"}]
    assert ["queues.send", "table.transact"] * 2 == [*order[-4:]]


@pytest.mark.parametrize("window", ["before the promise", "after the promise"])
def test_a_process_that_dies_before_its_commit_changed_nothing(window: str) -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    job = stage.jobs_of(key)[0]
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    (watch.before if window == "before the promise" else watch.after)["queues.send", 1] = die

    with pytest.raises(Crash):
        stage.complete(job)
    stage.ports = whole

    assert JobState.ACTIVE == stage.job(job.key).state
    assert [] == stage.activate("charge")
    stage.complete(job)
    assert 1 == len(stage.activate("charge"))


def test_a_process_that_dies_after_its_commit_loses_nothing() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = die

    with pytest.raises(Crash):
        stage.complete(stage.jobs_of(key)[0])
    stage.ports = whole

    assert 1 == len(stage.activate("charge"))


def test_a_promise_that_fails_lets_nothing_be_committed() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    job = stage.jobs_of(key)[0]
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.before["queues.send", 1] = fault

    with pytest.raises(Fault):
        stage.complete(job)
    stage.ports = whole

    assert JobState.ACTIVE == stage.job(job.key).state


def test_a_writer_who_lost_decides_again_on_what_the_other_made() -> None:
    stage = Stage()
    key = stage.create("parallel_join.bpmn")
    charge, pack = sorted(stage.jobs_of(key), key=lambda job: job.type)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)

    def other() -> None:
        advance(whole, key, CompleteJob(pack.key))

    watch.before["table.transact", 1] = other
    stage.complete(charge)
    stage.ports = whole

    assert ["ship"] == [job.type for job in stage.jobs_of(key) if job.state is JobState.ACTIVE]


def test_a_second_decision_that_is_outdated_already_promises_nothing() -> None:
    stage = Stage()
    key = stage.create("parallel_join.bpmn")
    charge, _ = sorted(stage.jobs_of(key), key=lambda job: job.type)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)

    def patch() -> None:
        advance(whole, key, SetVariables({"seen": True}))

    watch.before["table.transact", 1] = patch
    watch.after["table.get_many", 2] = patch  # after the second load

    stage.complete(charge)

    assert 2 == watch.counts["table.transact"]
    assert 3 == watch.counts["table.get_many"]


def test_others_who_win_until_the_deadline_are_a_conflict() -> None:
    stage = Stage()
    key = stage.create("one_task.bpmn")
    job = stage.jobs_of(key)[0]
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    began = stage.clock.now()

    def patch() -> None:
        advance(whole, key, SetVariables({"seen": True}))

    watch.before.update({("table.transact", number): patch for number in range(1, 1_000)})
    with pytest.raises(Conflict, match=f"instance {job.key} was changed by others"):
        stage.complete(job)

    assert DEADLINE <= stage.clock.now() - began <= DEADLINE + timedelta(seconds=1)


def test_a_commit_later_than_its_window_promises_again_first() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["queues.send", 1] = lambda: stage.clock.move(25)

    stage.complete(stage.jobs_of(key)[0])
    stage.ports = whole

    first, second = [bells.from_text(body) for body in stage.queues.bodies(stage.queue("charge"))]
    assert timedelta(seconds=25) == second.first_sent - first.first_sent
    assert 1 == len(stage.activate("charge"))


def test_a_repeat_changes_nothing_and_sends_nothing() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    job = stage.work("reserve")
    stage.ports, watch = watched(stage.ports)

    stage.complete(job, other="words")

    assert 0 == watch.counts["queues.send"] + watch.counts["table.transact"]
    assert 2 == stage.instance(key).root.version


@pytest.mark.parametrize("key", [0, -1, 2**32, 2**53 - 1])
def test_a_key_that_names_nothing_is_not_found(key: int) -> None:
    stage = Stage()

    with pytest.raises(Rejected, match=f"job {key} was not found") as caught:
        advance(stage.ports, key, CompleteJob(key))
    with pytest.raises(Rejected, match=f"process instance {key} was not found"):
        advance(stage.ports, key, CancelInstance())

    assert Reason.NOT_FOUND == caught.value.reason


# --- bounded turns -----------------------------------------------------------------------------

FEW_MOVES = Settings(limits=Limits(moves_max=2))


def test_a_start_that_fills_its_turn_goes_on_at_once() -> None:
    stage = Stage(FEW_MOVES)

    key = stage.create("parallel_join.bpmn")

    root = stage.instance(key).root
    assert root.version > 1
    assert () == root.agenda
    assert {"charge", "pack"} == {job.type for job in stage.jobs_of(key)}


def test_a_start_that_dies_after_its_commit_goes_on_by_its_message() -> None:
    stage = Stage(FEW_MOVES)
    definition = stage.deploy("parallel_join.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.create(definition)
    stage.ports = whole

    stage.wait(10)

    assert 1 == len(stage.activate("charge"))
    assert 1 == len(stage.activate("pack"))


def test_what_follows_the_commit_cannot_fail_the_request() -> None:
    stage = Stage(FEW_MOVES)
    definition = stage.deploy("parallel_join.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = lambda: watch.before.update({("table.get", 1): fault})

    key = stage.create(definition)
    stage.ports = whole

    assert stage.instance(key).root.agenda
    stage.wait(10)
    assert not stage.instance(key).root.agenda


def test_a_command_makes_the_moves_that_are_left_before_it_is_decided() -> None:
    stage = Stage(FEW_MOVES)
    definition = stage.deploy("parallel_join.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = lambda: watch.before.update({("table.get", 1): fault})
    key = stage.create(definition)
    stage.ports = whole

    advance(stage.ports, key, SetVariables({"seen": True}))

    assert not stage.instance(key).root.agenda
    assert {"charge", "pack"} == {job.type for job in stage.jobs_of(key)}


def test_each_version_says_which_turn_made_it() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    stage.work("reserve")

    ids = [history.turn_id(stage.table, key, version) for version in (1, 2)]

    assert stage.instance(key).root.turn_id == ids[1]
    assert 2 == len(set(ids))


def test_continuing_an_instance_that_has_nothing_left_changes_nothing() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")

    assert not advance(stage.ports, key, Continue()).changes


# --- size --------------------------------------------------------------------------------------


def test_a_payload_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    stage = Stage()
    key = stage.create("sequence.bpmn")
    job = stage.jobs_of(key)[0]

    with pytest.raises(TooLarge, match="bytes"):
        stage.complete(job, text="x" * 400_000)

    assert JobState.ACTIVE == stage.job(job.key).state
    assert 1 == stage.instance(key).root.version


def test_a_start_whose_variables_do_not_fit_is_refused() -> None:
    stage = Stage()
    definition = stage.deploy("sequence.bpmn")

    with pytest.raises(TooLarge, match="bytes"):
        stage.create(definition, text="x" * 400_000)


def test_merged_variables_that_do_not_fit_are_refused_and_change_nothing() -> None:
    stage = Stage()
    key = stage.create("loop.bpmn", text="x" * 200_000)
    job = stage.jobs_of(key)[0]

    with pytest.raises(TooLarge, match="bytes"):
        stage.complete(job, delivered="y" * 200_000)

    assert JobState.ACTIVE == stage.job(job.key).state
    assert 1 == stage.instance(key).root.version


def test_a_turn_of_many_large_jobs_is_made_in_smaller_ones() -> None:
    stage = Stage()

    key = stage.create(wide_fork(40), text="x" * 100_000)
    stage.wait(60)

    assert 40 == len(stage.jobs_of(key))
    assert stage.instance(key).root.version > 1


def test_a_model_that_makes_too_much_stops_with_an_incident_that_names_the_limit() -> None:
    stage = Stage()

    key = stage.create(script_then_task("=[text, text, text, text]"), text="x" * 100_000)
    stage.wait(30)

    instance = stage.instance(key)
    (incident,) = [record for record in instance.records.values() if isinstance(record, Incident)]
    assert "bytes" in incident.message
    assert 1 == instance.root.incident_count
    assert InstanceState.ACTIVE == instance.root.state


def test_a_job_type_that_is_too_long_stops_its_own_element() -> None:
    stage = Stage()
    key = stage.create(task_then_typed("first", "=kind"), kind="x" * 2_001)

    first = stage.work("first")

    (incident,) = [r for r in stage.instance(key).records.values() if isinstance(r, Incident)]
    assert JobState.COMPLETED is stage.job(first.key).state
    assert "two" == incident.element_id
    assert "at most 2000 bytes" in incident.message


def test_one_job_type_too_many_stops_the_instance_with_an_incident() -> None:
    stage = Stage()
    key = stage.create(task_then_typed("first", "=kind"), kind="one too many")
    for number in range(TYPES_MAX):
        stage.queues.ensure(f"j-{number}")

    with pytest.raises(TooLarge, match="at most 1000 job types"):
        stage.work("first")

    (incident,) = [r for r in stage.instance(key).records.values() if isinstance(r, Incident)]
    assert "at most 1000 job types" in incident.message


def test_a_timer_that_is_gone_changes_nothing_when_it_fires() -> None:
    stage = Stage()
    key = stage.create("boundary_timer.bpmn")
    (timer,) = [r for r in stage.instance(key).records.values() if isinstance(r, Timer)]
    stage.work("charge")

    assert not advance(stage.ports, key, FireTimer(timer.key, timer.due)).changes
    assert RecordKey(Timer, timer.key) not in stage.instance(key).records


def test_scopes_in_each_other_complete_over_as_many_turns_as_that_needs() -> None:
    stage, inner, last = Stage(), service("a"), "a"
    for level in range(60):
        flows = f"i{level} > {last}"
        last = f"s{level}"
        inner = many(sub(last, start(f"i{level}"), inner, flows=flows), cardinality="=1")
    key = stage.create(process(start(), inner, service("b"), flows=f"start > {last} > b"))

    stage.work("a")
    stage.pump()

    stage.work("b")
    assert InstanceState.COMPLETED == stage.state(key)
