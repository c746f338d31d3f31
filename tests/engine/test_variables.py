"""Variables: mappings, scopes and what leaves an element, by profile."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import DeleteVariable, SetVariables
from chalicelib.engine.turn import Changed
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import end, io, line, script, service, start, sub, task
from tests.play import play, to_json

ZENBPM, PRIOSTACK = Profile.ZENBPM, Profile.PRIOSTACK


def test_a_job_sees_the_instances_variables_and_what_its_inputs_make() -> None:
    game = play(line(service("a", extensions=io({"x": "=a + 1", "none": "=missing"})))).create(a=1)

    assert {"a": 1, "x": 2, "none": None} == game.job("a").inputs
    assert {"a": 1} == game.variables


def test_zenbpm_evaluates_inputs_against_one_snapshot_others_in_order() -> None:
    xml = line(service("a", extensions=io({"x": "=1", "y": "=x"})))

    assert {"x": 1, "y": None} == play(xml, profile=ZENBPM).create().job("a").inputs
    assert {"x": 1, "y": 1} == play(xml, profile=PRIOSTACK).create().job("a").inputs


def test_a_static_source_is_text() -> None:
    game = play(line(service("a", extensions=io({"x": "plain", "y": ""})))).create()

    assert {"x": "plain", "y": ""} == game.job("a").inputs


def test_a_mapping_without_a_source_gives_an_empty_text_or_null_by_profile() -> None:
    xml = line(service("a", extensions='<ioMapping><input target="x"/></ioMapping>'))

    assert {"x": ""} == play(xml, profile=ZENBPM).create().job("a").inputs
    assert {"x": None} == play(xml, profile=PRIOSTACK).create().job("a").inputs


def test_unmapped_outputs_of_a_job_leave_it_by_profile() -> None:
    xml = line(service("a"), service("b"))

    assert {} == play(xml, profile=ZENBPM).create().complete("a", paid=True).variables
    assert {"paid": True} == play(xml, profile=PRIOSTACK).create().complete(
        "a", paid=True
    ).variables


@pytest.mark.parametrize("profile", list(Profile))
def test_mapped_outputs_are_all_that_leaves(profile: Profile) -> None:
    xml = line(service("a", extensions=io({"n": "=1"}, {"total": "=price * n"})), service("b"))
    game = play(xml, profile=profile).create().complete("a", price=5, junk=1)

    assert {"total": 5} == game.variables


def test_an_unmapped_output_under_the_name_of_an_input_stays_inside() -> None:
    xml = line(service("a", extensions=io({"x": "=1"})), service("b"))
    game = play(xml, profile=PRIOSTACK).create(x=0).complete("a", x=2, y=3)

    assert {"x": 0, "y": 3} == game.variables


def test_a_nested_target_keeps_what_is_beside_it() -> None:
    """Row 61 of the known ways to get it wrong."""
    xml = line(
        service("a", extensions=io({"z": "=x", "z.b": "=y"}, {"order.paid": "=ok"})), task("b")
    )
    game = play(xml).create(x={"a": 1}, y=2, order={"id": 7})

    assert {"a": 1, "b": 2} == game.job("a").inputs["z"]
    game.complete("a", ok=True)
    assert {"id": 7, "paid": True} == game.variables["order"]


def test_a_nested_target_over_a_plain_value_is_an_incident() -> None:
    xml = line(service("a", extensions=io({"a.b": "=5", "a.b.c": "=1"})))
    game = play(xml).create()

    assert "IO_MAPPING_ERROR" == game.incident("a").error_type
    assert "expected a context at a.b, found 5" in game.incident("a").message


def test_an_input_mapping_does_not_change_what_it_was_given() -> None:
    game = play(line(service("a", extensions=io({"o.x": "=1"})))).create(o={"y": 2})

    assert {"y": 2} == game.variables["o"]
    assert {"x": 1, "y": 2} == game.job("a").inputs["o"]


def test_outputs_that_fail_leave_an_incident_and_the_workers_results() -> None:
    xml = line(service("a", extensions=io({}, {"x": "=assert(y, y != null)"})), service("b"))
    game = play(xml).create()
    game.complete("a", z=1)

    assert "IO_MAPPING_ERROR" == game.incident("a").error_type
    assert ["a"] == game.waiting
    game.set(y=5).resolve()
    assert (["b"], 5) == (game.open_jobs, game.variables["x"])


def test_a_script_sets_its_result_or_what_is_mapped_of_it() -> None:
    assert {"x": 3} == play(line(script("a", "x", "1 + 2"))).create().variables
    mapped = script("a", "x", "1 + n", extensions=io({"n": "=2"}, {"y": "=x + n"}))
    assert {"y": 5} == play(line(mapped)).create().variables


def test_results_are_json() -> None:
    xml = line(script("a", "day", 'date("2030-01-31")'), script("b", "wait", 'duration("P1D")'))

    assert {"day": "2030-01-31", "wait": "P1D"} == play(xml).create().variables


# --- subprocesses --------------------------------------------------------------------------


def nested(extensions: str = "") -> bytes:
    inner = sub(
        "s", start("si"), service("a"), end("se"), flows="si > a > se", extensions=extensions
    )
    return line(inner, service("after"))


def test_a_zenbpm_subprocess_works_on_a_copy() -> None:
    mapped = io({"local": "=x + 1"}, {"out": "=local + x"})
    game = play(nested(mapped)).create(x=1)
    scope = game.job("a").scope

    assert {"x": 1, "local": 2} == game.variables_of(scope) == game.job("a").inputs
    game.set(x=100)
    game.complete("a")

    assert {"x": 100, "out": 3} == game.variables
    assert {} == game.variables_of(scope)


def test_elsewhere_a_subprocess_looks_through_and_what_is_set_climbs() -> None:
    game = play(nested(io({"local": "=x"})), profile=PRIOSTACK).create(x=1)
    scope = game.job("a").scope

    assert {"local": 1} == game.variables_of(scope)
    assert {"x": 1, "local": 1} == game.job("a").inputs
    game.complete("a", x=2, local=3, fresh=4)
    assert {"x": 2, "fresh": 4} == game.variables


# --- an instance's own ---------------------------------------------------------------------


def test_variables_are_merged_and_deleted() -> None:
    game = play(line(service("a"))).create(x=1, y=1).set(y=2, z=[1])

    assert {"x": 1, "y": 2, "z": [1]} == game.variables
    assert {"y": 2, "z": [1]} == game.delete("x").variables
    assert (Changed(game.root.key, {}, ("x",)),) == game.turns[-1].history


def test_an_ended_instance_keeps_its_variables() -> None:
    game = play(line(service("a"))).create(x=1).complete("a")

    with pytest.raises(Rejected, match="Can update variables only for process instances in active"):
        game.send(SetVariables(to_json({"x": 2})))
    with pytest.raises(Rejected, match="can delete variables only for process instances in active"):
        game.send(DeleteVariable("x"))
    with pytest.raises(Rejected) as refused:  # what is not there is looked at first
        game.send(DeleteVariable("y"))
    assert Reason.NOT_FOUND == refused.value.reason
    assert {"x": 1} == game.variables
