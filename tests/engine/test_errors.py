"""BPMN errors across scopes: who catches, and what that ends."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.errors import Rejected
from tests.engine.models import (
    boundary_error,
    end,
    error_end,
    io,
    line,
    process,
    service,
    start,
    sub,
    task,
)
from tests.play import play

ERRORS = {"E1": "BROKE"}


def test_an_error_end_event_is_caught_by_its_subprocess() -> None:
    inner = sub(
        *("s", start("si"), service("a"), service("b"), error_end("ee", "E1")),
        flows="si > a > ee; si > b",
    )
    xml = process(
        *(start(), inner, boundary_error("b1", "s", "E1"), end(), service("mend")),
        flows="start > s > end; b1 > mend",
        errors=ERRORS,
    )
    game = play(xml).create().complete("a")

    assert ["mend"] == game.open_jobs
    assert [JobState.COMPLETED, JobState.TERMINATED, JobState.ACTIVE] == [
        job.state for job in game.records(Job)
    ]
    assert InstanceState.COMPLETED == game.complete("mend").state


def test_an_error_end_event_that_nobody_catches_is_an_incident() -> None:
    xml = process(start(), error_end("ee", "E1"), flows="start > ee", errors=ERRORS)
    game = play(xml).create()

    assert ("UNHANDLED_ERROR_EVENT", "ee") == (
        game.incident().error_type,
        game.incident().element_id,
    )


def test_an_error_of_a_job_is_looked_for_from_scope_to_scope() -> None:
    innermost = sub("s2", start("s2i"), service("a"), flows="s2i > a")
    inner = sub("s1", start("s1i"), innermost, service("b"), flows="s1i > s2; s1i > b")
    mapped = io({}, {"reason": "=code"})
    xml = process(
        *(start(), inner, boundary_error("all", "s1", extensions=mapped), task("t"), end()),
        flows="start > s1 > end; all > t",
    )
    game = play(xml).create().fail("a", error_code="X", variables={"code": 5, "junk": 1})

    assert (InstanceState.COMPLETED, {"reason": 5}) == (game.state, game.variables)
    assert {JobState.TERMINATED} == {job.state for job in game.records(Job)}
    assert ["all", "t"] == game.path[-2:]


def test_the_code_of_an_error_that_is_thrown_may_be_computed() -> None:
    inner = sub("s", start("si"), error_end("ee", "E2"), flows="si > ee")
    named, rest = boundary_error("b1", "s", "E1"), boundary_error("b2", "s")
    xml = process(
        *(start(), inner, named, rest, service("mend"), service("other")),
        flows="start > s; b1 > mend; b2 > other",
        errors={**ERRORS, "E2": "=code"},
    )

    assert ["mend"] == play(xml).create(code="BROKE").open_jobs
    assert ["other"] == play(xml).create(code="LOST").open_jobs
    game = play(xml).create(code=1)
    stopped = game.incident()
    assert ("ee", "EXTRACT_VALUE_ERROR") == (stopped.element_id, stopped.error_type)
    assert "code thrown by ee: expected a text that is not empty, found 1" == stopped.message
    assert ["mend"] == game.resolve(variables={"code": "BROKE"}).open_jobs


@pytest.mark.parametrize(
    ("code", "problem"),
    [("=a +", "errorCode: .* is no FEEL expression"), ("=", "errorCode: expected a FEEL")],
)
def test_a_computed_code_that_is_no_feel_is_refused(code: str, problem: str) -> None:
    with pytest.raises(Rejected, match=f'endEvent "ee" .*{problem}'):
        play(process(start(), error_end("ee", "E1"), flows="start > ee", errors={"E1": code}))


def test_a_code_that_is_caught_cannot_be_computed() -> None:
    xml = line(service("a"), boundary_error("b", "a", "E1"), errors={"E1": "=code"})

    with pytest.raises(Rejected, match='errorCode "=code" as FEEL, found at boundaryEvent "b"'):
        play(xml)
