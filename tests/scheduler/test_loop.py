"""The loop: which outputs continue a run, when the continuation is due, and where it stops."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from chalicelib.scheduler.decisions import Continued, Ended, after_attempt, first_rows
from chalicelib.scheduler.definition import Loop, Retry
from chalicelib.scheduler.rows import RowState
from tests.scheduler.play import (
    LESS,
    MORE,
    NOW,
    RUN,
    TOOK,
    continued,
    decide,
    ended,
    failed,
    job,
    looping,
    play,
    retried,
    running,
    succeeded,
)

more, less, fails = partial(succeeded, MORE), partial(succeeded, LESS), partial(failed, MORE)


# --- the decision ----------------------------------------------------------------------------


@pytest.mark.rule("Z1", "Z5", "Z9")
@pytest.mark.parametrize("remaining", [3, 1, 0.25, 1e3])
def test_a_number_above_zero_continues(remaining: float) -> None:
    body = {"result": {"remaining": remaining}}
    assert isinstance(decide(looping(), succeeded(body)), Continued)


@pytest.mark.rule("Z1")
def test_the_path_that_was_set_is_read() -> None:
    other = looping(response_path="left")
    assert isinstance(decide(other, succeeded({"left": 2})), Continued)
    assert isinstance(decide(other, succeeded(MORE)), Ended)


@pytest.mark.rule("Z9")
def test_an_empty_path_is_the_documented_one() -> None:
    assert isinstance(decide(looping(response_path=""), succeeded(MORE)), Continued)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"result": {}}, marks=pytest.mark.rule("Z2")),
        pytest.param({}, marks=pytest.mark.rule("Z2")),
        pytest.param({"result": {"remaining": 0}}, marks=pytest.mark.rule("Z3")),
        pytest.param({"result": {"remaining": -3}}, marks=pytest.mark.rule("Z4")),
        pytest.param({"result": {"remaining": True}}, marks=pytest.mark.rule("Z6")),
        pytest.param({"result": {"remaining": "5"}}, marks=pytest.mark.rule("Z7")),
        pytest.param({"result": {"remaining": None}}, marks=pytest.mark.rule("Z8")),
        pytest.param({"result": {"remaining": [5]}}, marks=pytest.mark.rule("Z8")),
        pytest.param({"result": {"remaining": {"n": 1}}}, marks=pytest.mark.rule("Z8")),
        pytest.param(b"", marks=pytest.mark.rule("Z17")),
        pytest.param(b"done, 5 remaining", marks=pytest.mark.rule("Z17")),
    ],
)
def test_anything_else_stops_and_stays_a_success(body: object) -> None:
    end = ended(decide(looping(), succeeded(body)))
    assert (RowState.COMPLETED, False) == (end.row.state, end.is_capped)


@pytest.mark.rule("Z18")
def test_a_job_without_loop_never_continues() -> None:
    assert isinstance(decide(job(), succeeded(MORE)), Ended)


@pytest.mark.rule("Z19")
def test_a_failed_attempt_never_continues() -> None:
    assert isinstance(decide(looping(), failed(MORE)), Ended)
    both = replace(looping(), retry=Retry(enabled=True))
    assert 0 == retried(decide(both, failed(MORE))).row.iteration


# --- the continuation ------------------------------------------------------------------------


@pytest.mark.rule("Z20")
def test_a_continuation_is_a_new_row_and_the_old_one_is_completed() -> None:
    row = running(looping())
    decision = continued(decide(looping(), succeeded(MORE), row=row))

    assert replace(row, state=RowState.COMPLETED) == decision.completed
    assert (0, 1) == (decision.completed.iteration, decision.row.iteration)
    assert (row.job_id, row.run_id) == (decision.row.job_id, decision.row.run_id)


@pytest.mark.rule("Z21")
@pytest.mark.parametrize(("share", "jitter_ms"), [(0, 0), (0.25, 500), (0.00001, 1), (1, 2_000)])
def test_it_is_due_after_the_delay_and_a_share_of_the_jitter(share: float, jitter_ms: int) -> None:
    loop = looping(delay_ms=60_000, jitter_ms=2_000)
    decision = continued(after_attempt(loop, running(loop), succeeded(MORE), share))

    assert NOW + TOOK + timedelta(milliseconds=60_000 + jitter_ms) == decision.row.due
    assert RowState.SCHEDULED is decision.row.state


@pytest.mark.rule("Z22")
@pytest.mark.parametrize("jitter_ms", [0, -5])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_without_jitter_the_delay_is_exact(share: float, jitter_ms: int) -> None:
    loop = looping(delay_ms=1_500, jitter_ms=jitter_ms)
    decision = continued(after_attempt(loop, running(loop), succeeded(MORE), share))
    assert NOW + TOOK + timedelta(milliseconds=1_500) == decision.row.due


@pytest.mark.rule("Z22")
@pytest.mark.parametrize("delay_ms", [0, -1])
def test_without_a_delay_it_may_begin_at_once(delay_ms: int) -> None:
    decision = continued(decide(looping(delay_ms=delay_ms), succeeded(MORE)))
    assert (NOW + TOOK, RowState.AVAILABLE) == (decision.row.due, decision.row.state)


@pytest.mark.rule("Z23")
@pytest.mark.parametrize(
    "retry", [Retry(True, 9_000), Retry(True, 1, Decimal(9)), Retry(True, 1, Decimal(2), 5, 9)]
)
def test_no_retry_setting_changes_its_delay(retry: Retry) -> None:
    plain = looping(delay_ms=700)
    expected = continued(decide(plain, succeeded(MORE))).row.due
    assert expected == continued(decide(replace(plain, retry=retry), succeeded(MORE))).row.due


@pytest.mark.rule("Z24", "Z75")
def test_it_has_the_pool_index_of_its_predecessor() -> None:
    pool = replace(looping(), pool_count=3)
    row = running(pool, pool_idx=2)
    assert 2 == continued(decide(pool, succeeded(MORE), row=row)).row.pool_idx


@pytest.mark.rule("Z25")
def test_it_has_a_budget_of_its_own() -> None:
    both = replace(looping(), retry=Retry(enabled=True, max_attempts=3))
    row = continued(decide(both, succeeded(MORE), row=running(both, attempt=3))).row
    assert (0, 3) == (row.attempt, row.budget)


@pytest.mark.rule("Z25")
def test_its_first_attempt_is_number_one() -> None:
    both = replace(looping(), retry=Retry(enabled=True))
    decisions = play(both, [fails, more, fails, less])
    assert [1, 0, 1, 1 + 1] == [decision.row.attempt for decision in decisions]


# --- the cap ---------------------------------------------------------------------------------


@pytest.mark.rule("Z26")
@pytest.mark.parametrize("unset", [Loop(enabled=True), Loop(enabled=True, max_iterations=0)])
def test_the_cap_is_fifty_where_none_is_set(unset: Loop) -> None:
    assert 50 == len(play(job(loop=unset), [more]))


@pytest.mark.rule("Z27")
@pytest.mark.parametrize("cap", [1, 2, 7])
def test_a_run_has_as_many_iterations_as_its_cap(cap: int) -> None:
    decisions = play(looping(max_iterations=cap), [more])

    iterations = [continued(decision).completed.iteration for decision in decisions[:-1]]
    assert list(range(cap)) == [*iterations, decisions[-1].row.iteration]
    assert ended(decisions[-1]).is_capped


@pytest.mark.rule("Z31")
def test_the_row_at_the_cap_is_completed() -> None:
    both = replace(looping(max_iterations=2), retry=Retry(enabled=True))
    assert RowState.COMPLETED is play(both, [more])[-1].row.state


@pytest.mark.rule("Z33")
def test_the_next_firing_begins_again_at_iteration_zero() -> None:
    loop = looping(max_iterations=2)
    assert 2 == len(play(loop, [more]))
    assert [0] == [row.iteration for row in first_rows(loop, "20260302T100000Z", NOW)]
    assert 2 == len(play(loop, [more]))


@pytest.mark.rule("Z34")
def test_a_retry_is_no_iteration() -> None:
    both = replace(looping(max_iterations=2), retry=Retry(enabled=True))
    decisions = play(both, [fails, fails, more, less])

    assert [0, 0, 1, 1] == [decision.row.iteration for decision in decisions]
    assert not ended(decisions[-1]).is_capped


@pytest.mark.rule("Z35")
def test_a_last_iteration_that_has_nothing_left_is_not_capped() -> None:
    decisions = play(looping(max_iterations=3), [more, more, less])
    assert (3, False) == (len(decisions), ended(decisions[-1]).is_capped)


def test_a_run_keeps_its_name() -> None:
    assert {RUN} == {decision.row.run_id for decision in play(looping(), [more, more, less])}
