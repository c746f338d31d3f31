"""Data objects that have a name are variables of the scope that they are drawn in."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import codec
from chalicelib.profile import Profile
from tests.bpmn.models import parsed
from tests.engine.models import end, line, service, start, sub
from tests.play import play

NAMED = '<dataObject id="d" name="invoice"/>'
DRAWN = '<dataObject id="d"/><dataObjectReference id="r" name="Invoice" dataObjectRef="d"/>'
BOTH = pytest.mark.parametrize("profile", Profile)


def inside(data: str) -> bytes:
    inner = sub("s", data, start("i"), service("a"), end("o"), flows="i > a > o")
    return line(inner, service("b"))


@BOTH
def test_one_of_the_process_is_null_until_it_is_set(profile: Profile) -> None:
    model = line(service("a")).replace(b"</process>", NAMED.encode() + b"</process>")

    assert {"invoice": None} == play(model, profile=profile).create().variables
    assert {"invoice": 7} == play(model, profile=profile).create(invoice=7).variables


def test_one_of_a_subprocess_keeps_what_is_set_there() -> None:
    game = play(inside(NAMED), profile=Profile.PRIOSTACK).create(x=1)

    assert None is game.job("a").inputs["invoice"]
    game.complete("a", invoice=7, x=2)

    assert ["b"] == game.open_jobs
    assert {"x": 2} == game.variables


def test_one_that_is_only_drawn_changes_nothing() -> None:
    game = play(inside(DRAWN), profile=Profile.PRIOSTACK).create()
    game.complete("a", invoice=7)

    assert {"invoice": 7} == game.variables


def test_they_are_kept_with_the_compiled_process() -> None:
    found = parsed(inside(NAMED))

    assert found == codec.from_json(codec.to_json(found))
    assert ("invoice",) == found.elements["s"].data
