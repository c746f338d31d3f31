"""What undoes an activity of a subprocess that has ended sees the variables that it left."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import InstanceState, Variables
from chalicelib.profile import Profile
from chalicelib.store import execution
from tests.engine.event_models import compensation, compensation_end, compensation_throw, undone
from tests.engine.models import end, event_sub, io, many, process, script, service, start, sub, task
from tests.play import Play, play

BOTH = pytest.mark.parametrize("profile", Profile)
T = undone(task("t"), service("undo_t", extensions=io(inputs={"n": "=own * 10"})))


def own(value: str) -> str:
    """Return an input mapping that makes a variable of a subprocess's own."""
    return io(inputs={"own": f"={value}"})


def around(*inner: str, throw: str = "", profile: Profile = Profile.PRIOSTACK) -> Play:
    parts = (start(), *inner, throw or compensation_throw("c"), service("after"), end())
    ids = [part.split('id="')[1].split('"')[0] for part in inner]
    xml = process(*parts, flows=" > ".join(["start", *ids, "c", "after", "end"]))
    return play(xml, profile=profile)


@BOTH
def test_a_handler_sees_what_its_subprocess_left(profile: Profile) -> None:
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("x + 1"))
    game = around(inner, profile=profile).create(x=1)

    job = game.job("undo_t")
    assert (2, 20) == (job.inputs["own"], job.inputs["n"])
    assert ["after"] == game.complete("undo_t").open_jobs
    assert InstanceState.COMPLETED == game.complete("after").state
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


def test_it_is_what_was_left_and_not_what_is_there_now() -> None:
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("x"))
    game = around(inner, script("z", "own", "99")).create(x=1)

    assert 1 == game.job("undo_t").inputs["own"]
    assert 99 == game.variables["own"]


def test_what_a_handler_sets_under_another_name_is_seen_outside() -> None:
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("x"))
    game = around(inner).create(x=1).complete("undo_t", own=5, told="yes")

    assert {"x": 1, "told": "yes"} == dict(game.variables)


def test_scopes_in_each_other_are_seen_through() -> None:
    by = undone(task("u"), service("undo_u"))
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("2"))
    outer = sub(
        *("o", start("oi"), by, inner),
        flows="oi > u > s",
        extensions=io(inputs={"own": "=1", "further": "=7"}),
    )
    game = around(outer).create()

    assert (2, 7) == tuple(game.job("undo_t").inputs[name] for name in ("own", "further"))
    assert 1 == game.job("undo_u").inputs["own"]
    game.complete("undo_u").complete("undo_t")
    assert ["after"] == game.open_jobs
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


def test_each_iteration_is_undone_with_its_own() -> None:
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("item"))
    loop = many(inner, each={"items": "=items", "item": "item"})
    game = around(loop).create(items=[1, 2, 3])

    jobs = [job for job in game.jobs if job.element_id == "undo_t"]
    assert [(1, 10), (2, 20), (3, 30)] == sorted((j.inputs["item"], j.inputs["n"]) for j in jobs)
    for _ in jobs:
        game.complete("undo_t")
    assert ["after"] == game.open_jobs


def test_one_activity_alone_leaves_the_rest_to_be_undone_with_it() -> None:
    by = undone(task("u"), service("undo_u"))
    inner = sub("s", start("si"), T, by, flows="si > t > u", extensions=own("3"))
    game = around(inner, compensation_throw("first", "u")).create()
    assert (["undo_u"], 3) == (game.open_jobs, game.job("undo_u").inputs["own"])

    game.complete("undo_u")

    assert (["undo_t"], 30) == (game.open_jobs, game.job("undo_t").inputs["n"])


def test_an_event_subprocess_that_undoes_from_inside_sees_it_too() -> None:
    handler = event_sub(
        *("h", compensation(), service("first"), compensation_end("rest")),
        flows="h_start > first > rest",
    )
    inner = sub("s", start("si"), T, handler, flows="si > t", extensions=own("4"))
    game = around(inner).create()

    assert 4 == game.job("first").inputs["own"]
    assert 40 == game.complete("first").job("undo_t").inputs["n"]
    assert ["after"] == game.complete("undo_t").open_jobs


def test_it_is_stored_and_read_again() -> None:
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("5"))
    game = around(inner, service("w")).create()
    root = game.root

    again = execution.from_text(execution.to_text(root), root.key, root.created_at)

    assert dict(root.completed) == again["completed"]
    assert [1] == [len(done.seen) for done in root.completed]


def test_cancelling_ends_what_is_opened_again() -> None:
    inner = sub("s", start("si"), T, flows="si > t", extensions=own("6"))
    game = around(inner).create().cancel()

    assert (InstanceState.TERMINATED, []) == (game.state, game.open_jobs)
