"""The retry: how long a failure waits, how often it is made again, and how a row ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.scheduler.decisions import Ended, after_attempt, first_rows
from chalicelib.scheduler.definition import Auth, HttpCall, Loop, Retry, ScriptCall
from chalicelib.scheduler.retry import delay, delay_ms
from chalicelib.scheduler.rows import RowState
from tests.scheduler.play import (
    MORE,
    NOW,
    RUN,
    TOOK,
    cancelled,
    continued,
    decide,
    ended,
    failed,
    job,
    play,
    retried,
    retrying,
    running,
    succeeded,
)

more, fails = partial(succeeded, MORE), partial(failed, MORE)


def policy(base: int = 1_000, multiplier: str = "2", longest: int = 300_000) -> Retry:
    return Retry(True, base, Decimal(multiplier), longest)


def delays(retry: Retry, count: int) -> list[Decimal]:
    return [delay_ms(retry, attempt) for attempt in range(1, count + 1)]


# --- the delay -------------------------------------------------------------------------------


@pytest.mark.rule("Z36", "Z37")
def test_the_delay_grows_with_every_attempt_up_to_its_maximum() -> None:
    doubled = [1_000 * 2**n for n in range(9)]
    assert [*doubled, 300_000, 300_000] == delays(policy(), 11)
    assert 256_000 == doubled[-1]


@pytest.mark.rule("Z36")
@given(st.integers(1, 10**6), st.integers(2, 9), st.integers(1, 10**9), st.integers(1, 40))
def test_the_delay_is_the_documented_formula(
    base: int, multiplier: int, longest: int, attempt: int
) -> None:
    retry = policy(base, str(multiplier), longest)
    assert min(base * multiplier ** (attempt - 1), longest) == delay_ms(retry, attempt)


@pytest.mark.rule("Z36")
def test_a_retry_is_due_that_long_after_the_failed_attempt() -> None:
    row = retried(decide(retrying(), failed(), row=running(retrying(), attempt=3))).row
    assert NOW + TOOK + timedelta(milliseconds=4_000) == row.due
    assert (RowState.RETRYABLE, 3) == (row.state, row.attempt)


@pytest.mark.rule("Z38")
def test_equal_failures_have_equal_delays_whatever_chance_gives() -> None:
    jittery = replace(retrying(), loop=Loop(enabled=True, jitter_ms=60_000))
    row = running(jittery)

    first, *others = (after_attempt(jittery, row, failed(), share) for share in (0.0, 0.4, 1.0))

    assert NOW + TOOK + timedelta(seconds=1) == retried(first).row.due
    assert [first, first] == others


@pytest.mark.parametrize(
    ("retry", "first", "second"),
    [
        pytest.param(policy(base=0), 1_000, 2_000, marks=pytest.mark.rule("Z39")),
        pytest.param(policy(base=-7), 1_000, 2_000, marks=pytest.mark.rule("Z39")),
        pytest.param(policy(multiplier="1"), 1_000, 2_000, marks=pytest.mark.rule("Z40")),
        pytest.param(policy(multiplier="0.5"), 1_000, 2_000, marks=pytest.mark.rule("Z40")),
        pytest.param(policy(multiplier="-3"), 1_000, 2_000, marks=pytest.mark.rule("Z40")),
        pytest.param(policy(multiplier="1.01"), 1_000, 1_010, marks=pytest.mark.rule("Z40")),
        pytest.param(policy(250_000, longest=0), 250_000, 300_000, marks=pytest.mark.rule("Z41")),
        pytest.param(policy(250_000, longest=-1), 250_000, 300_000, marks=pytest.mark.rule("Z41")),
        pytest.param(policy(400_000), 300_000, 300_000, marks=pytest.mark.rule("Z42")),
    ],
)
def test_unusable_numbers_count_as_the_documented_ones(
    retry: Retry, first: int, second: int
) -> None:
    assert [first, second] == delays(retry, 2)


@pytest.mark.rule("Z43")
def test_a_fractional_multiplier_works() -> None:
    expected = [Decimal(each) for each in ("500", "750", "1125", "1687.5", "2000")]
    assert expected == delays(policy(500, "1.5", 2_000), 5)


@pytest.mark.rule("Z43")
def test_a_fraction_of_a_millisecond_is_waited_for() -> None:
    assert timedelta(milliseconds=1_688) == delay(policy(500, "1.5", 2_000), 4)


@pytest.mark.rule("Z44")
@pytest.mark.parametrize("multiplier", ["2", "1.0001", "1E+6000"])
def test_attempt_5000_waits_for_the_maximum(multiplier: str) -> None:
    expected = {"1.0001": Decimal("1648.5")}.get(multiplier, Decimal(300_000))
    assert expected == round(delay_ms(policy(multiplier=multiplier), 5_000), 1)


@pytest.mark.rule("Z45")
def test_an_edited_base_acts_from_the_next_delay_on() -> None:
    before, after = retrying(), retrying(base_delay_ms=5_000)
    row = retried(decide(before, failed())).row
    assert NOW + TOOK + timedelta(seconds=1) == row.due

    row = retried(decide(after, failed(), row=replace(row, attempt=2))).row
    assert NOW + TOOK + timedelta(seconds=10) == row.due


# --- the budget, and how a row ends ----------------------------------------------------------


@pytest.mark.rule("Z46", "Z52")
def test_a_row_has_as_many_attempts_as_its_budget_and_is_then_discarded() -> None:
    decisions = play(retrying(max_attempts=5), [fails])

    assert 5 == len(decisions)
    assert RowState.DISCARDED is ended(decisions[-1]).row.state


@pytest.mark.rule("Z47")
@pytest.mark.parametrize("attempts", [0, -3])
def test_an_unusable_budget_counts_as_five(attempts: int) -> None:
    assert 5 == len(play(retrying(max_attempts=attempts), [fails]))


@pytest.mark.rule("Z48")
def test_without_retry_the_only_failure_ends_the_row_cancelled() -> None:
    decisions = play(job(retry=Retry(enabled=False, max_attempts=5)), [fails])
    assert [RowState.CANCELLED] == [ended(decision).row.state for decision in decisions]


@pytest.mark.rule("Z49")
def test_a_queued_row_keeps_the_budget_it_was_inserted_with() -> None:
    row = running(retrying(max_attempts=2), attempt=2)
    assert (
        RowState.DISCARDED is ended(decide(retrying(max_attempts=9), failed(), row=row)).row.state
    )


@pytest.mark.rule("Z50")
def test_a_row_that_is_inserted_after_the_edit_has_the_new_budget() -> None:
    assert [9] == [row.budget for row in first_rows(retrying(max_attempts=9), RUN, NOW)]


@pytest.mark.rule("Z51")
def test_the_next_continuation_of_a_run_has_the_new_budget() -> None:
    before = replace(retrying(max_attempts=2), loop=Loop(enabled=True))
    after = replace(before, retry=Retry(enabled=True, max_attempts=9))
    decision = continued(decide(after, succeeded(MORE), row=running(before)))
    assert (2, 9) == (decision.completed.budget, decision.row.budget)


@pytest.mark.rule("Z54")
def test_a_discarded_iteration_ends_its_run() -> None:
    both = replace(retrying(max_attempts=2), loop=Loop(enabled=True))
    decisions = play(both, [more, fails])

    assert [1, 1, 1] == [decision.row.iteration for decision in decisions]
    assert RowState.DISCARDED is ended(decisions[-1]).row.state


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"http": HttpCall(url="http://[::1")}, marks=pytest.mark.rule("Z63")),
        pytest.param({"http": HttpCall(auth=Auth("kerberos"))}, marks=pytest.mark.rule("Z64")),
        pytest.param({"type": "script", "script": ScriptCall()}, marks=pytest.mark.rule("Z65")),
        pytest.param({"type": "ftp"}, marks=pytest.mark.rule("Z66")),
    ],
)
def test_what_can_never_succeed_is_cancelled_whatever_budget_is_left(
    changes: dict[str, object],
) -> None:
    never = job(retry=Retry(enabled=True), loop=Loop(enabled=True), **changes)
    decision = decide(never, cancelled())
    assert isinstance(decision, Ended)
    assert (RowState.CANCELLED, 1) == (decision.row.state, decision.row.attempt)
