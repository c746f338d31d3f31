"""What is read with the root for a command is enough for the usual decision."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import (
    CompleteJob,
    EndChild,
    FireTimer,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.handle import handle
from chalicelib.engine.keys import Keys
from chalicelib.engine.limits import SMALL_RESULTS_BYTES
from chalicelib.engine.needs import wanted
from chalicelib.engine.state import (
    ChildWait,
    Incident,
    Instance,
    InstanceState,
    Job,
    LoopItems,
    LoopResults,
    RecordKey,
    Timer,
    Variables,
)
from chalicelib.engine.turn import Missing
from chalicelib.feel.moment import Moment
from tests.engine.models import boundary, end, io, line, many, process, service, start, sub, task
from tests.play import NOW, Play, play


@pytest.fixture
def game() -> Play:
    inner = sub(
        *("s", start("si"), service("a"), boundary("late", "a", duration="PT1M"), task("t")),
        flows="si > a; late > t",
    )
    xml = process(
        *(start(), inner, boundary("later", "s", duration="PT2M"), service("b"), end()),
        flows="start > s > b; later > end; start > b",
    )
    return play(xml).create(x=1)


def test_a_job_needs_what_is_open_on_it_and_the_scopes_around_it(game: Play) -> None:
    job, other = game.job("a"), game.job("b")
    later, late = game.timers

    expected = {
        RecordKey(Job, job.key),
        RecordKey(Timer, late.key),
        RecordKey(Timer, later.key),
        RecordKey(Variables, job.scope),
        RecordKey(Variables, game.root.key),
    }
    assert expected == wanted(CompleteJob(job.key), game.root)
    expected = {RecordKey(Job, other.key), RecordKey(Variables, game.root.key)}
    assert expected == wanted(CompleteJob(other.key), game.root)


def test_a_job_of_an_iteration_needs_the_items_in_place_of_its_variables() -> None:
    game = play(line(many(service("a"), items="=items", item="item"))).create(items=[1, 2])
    job, (body,) = game.job("a"), game.root.bodies

    expected = {
        RecordKey(Job, job.key),
        RecordKey(LoopItems, body),
        RecordKey(Variables, game.root.key),
    }
    assert expected == wanted(CompleteJob(job.key), game.root)
    game.complete("a")
    assert 0 == game.reads


def test_the_end_of_a_part_needs_no_variables_of_the_instance() -> None:
    game = play(line(many(service("a"), items="=items", item="item"))).create(items=[1] * 65)
    first = next(each for each in game.root.live.values() if each.loop)
    ended = EndChild(first.child, InstanceState.COMPLETED, {})

    assert {RecordKey(ChildWait, first.child)} == wanted(ended, game.root)


def test_usual_commands_need_no_second_read(game: Play) -> None:
    game.fail("b").resolve().set(y=1).complete("a").complete("b").complete("b")

    assert 0 == game.reads


def test_the_job_of_an_iteration_needs_no_second_read_for_its_result() -> None:
    answer = io(outputs={"answer": "=long"})
    each = {"items": "=items", "results": "answers", "result": "=answer"}
    game = play(line(many(service("a", extensions=answer), each=each))).create(items=[1, 2, 3])
    game.complete("a", long="x" * SMALL_RESULTS_BYTES)
    before = game.reads

    game.complete("a")

    assert before == game.reads
    assert [2] == [len(each.values) for each in game.records(LoopResults)]


def test_timers_incidents_and_variables_are_found_by_the_root(game: Play) -> None:
    later, late = game.timers
    game.fail("b")
    incident = game.incident()

    assert RecordKey(Job, game.job("a").key) in wanted(FireTimer(late.key, late.due), game.root)
    assert RecordKey(Timer, later.key) in wanted(FireTimer(late.key, late.due), game.root)
    found = wanted(ResolveIncident(incident.key), game.root)
    assert {RecordKey(Incident, incident.key), RecordKey(Job, incident.job_key or 0)} < found
    assert {RecordKey(Variables, game.root.key)} == wanted(SetVariables({}), game.root)


def test_what_was_not_read_is_asked_for_all_at_once() -> None:
    game = play(line(service("a"))).create(x=1)
    job = game.job("a")
    empty = Instance(game.root)

    with pytest.raises(Missing) as missing:
        handle(game.process, empty, CompleteJob(job.key), moment=Moment(NOW), keys=Keys(1))
    assert {RecordKey(Job, job.key)} == missing.value.keys


def test_what_is_known_not_to_exist_is_not_asked_for_again() -> None:
    game = play(line(service("a"))).create(x=1)
    nobody = RecordKey(Job, game.root.key + 99)

    assert nobody in wanted(CompleteJob(nobody.key), game.root)
    with pytest.raises(Exception, match="was not found"):
        game.send(CompleteJob(nobody.key))
