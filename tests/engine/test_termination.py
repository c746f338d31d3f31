"""Ending what is inside goes scope by scope and chunk by chunk, however deep and wide it is; and
every kind of failure of a model is shown by a test."""

from __future__ import annotations

import re

import pytest

from chalicelib.engine.limits import ACTIONS_MAX
from chalicelib.engine.state import InstanceState
from chalicelib.engine.stuck import ErrorType
from tests.engine.models import (
    ad_hoc,
    boundary,
    end,
    many,
    parallel,
    process,
    service,
    start,
    sub,
)
from tests.house.source import ROOT
from tests.play import play

DEPTH = 80  # subprocesses in one another; the reader of XML takes a hundred levels of elements


def deep(levels: int) -> bytes:
    inner = sub(f"s{levels}", start(f"i{levels}"), service("a"), flows=f"i{levels} > a")
    for level in range(levels - 1, 0, -1):
        flows = f"i{level} > s{level + 1}"
        inner = sub(f"s{level}", start(f"i{level}"), inner, flows=flows)
    parts = (start(), inner, boundary("b", "s1", duration="PT1H"), service("after"), end())
    return process(*parts, flows="start > s1 > end; b > after")


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_subprocesses_far_inside_each_other_end_with_what_is_around_them(
    is_cancelled: bool,
) -> None:
    game = play(deep(DEPTH)).create()
    assert ["a"] == game.open_jobs

    game.cancel() if is_cancelled else game.wait(3_601)

    assert ([] if is_cancelled else ["after"]) == game.open_jobs
    state = InstanceState.TERMINATED if is_cancelled else InstanceState.ACTIVE
    assert state is game.state
    assert len(game.root.live) <= 1


@pytest.mark.parametrize("kind", ["many", "ad hoc"])
def test_scopes_far_inside_each_other_complete_one_after_the_other(kind: str) -> None:
    inner, last = service("a"), "a"
    for level in range(DEPTH):
        id_ = f"s{level}"
        if kind == "many":
            inner = many(
                sub(id_, start(f"i{level}"), inner, flows=f"i{level} > {last}"), cardinality="=1"
            )
        else:
            inner = ad_hoc(id_, inner, active=f'["{last}"]')
        last = id_
    xml = process(start(), inner, end(), flows=f"start > {last} > end")

    assert InstanceState.COMPLETED is play(xml).create().complete("a").state


def test_what_is_wide_ends_in_turns_that_each_keep_to_the_bound() -> None:
    many = [service(f"a{n}") for n in range(300)]
    flows = "start > f; " + "; ".join(f"f > a{n}" for n in range(300))
    game = play(process(start(), parallel("f"), *many, flows=flows)).create()
    before = len(game.turns)

    game.cancel()

    turns = game.turns[before:]
    assert InstanceState.TERMINATED is game.state
    assert len(turns) >= 2 * 300 // ACTIONS_MAX
    assert all(len(turn.guards) <= ACTIONS_MAX for turn in turns)


def test_every_type_of_incident_is_asked_for_by_a_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    shown = {word for text in texts for word in re.findall(r"\b[A-Z]+_[A-Z_]+\b", text)}

    assert {each.value for each in ErrorType} <= shown
