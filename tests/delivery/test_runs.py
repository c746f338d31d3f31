"""Messages of scheduled jobs: what they say, and what they turn out to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing, Insurance, RunMessage, RunsMessage
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.errors import Rejected
from chalicelib.scheduler.definition import Once, ScheduledJob
from chalicelib.scheduler.rows import Row, RowState
from tests.fakes.clock import BEGIN
from tests.operations.scheduling import at, draft

JOB = replace(draft(), id="j", revision=3)
FIRING = Firing("j", 3, BEGIN)
RUN = RunMessage("j", "20260302T090000Z", 2, 4, 2, BEGIN)
ROW = Row("j", RUN.run_id, 2, 4, RowState.RETRYABLE, 1, 5, BEGIN)
DEAD_S = 902


@pytest.mark.parametrize("message", [FIRING, RUN, Insurance("j", "r", 3, BEGIN)], ids=str)
def test_a_message_is_read_as_it_was_written(message: RunsMessage) -> None:
    assert message == runs.from_text(runs.to_text(message))


def test_a_firing_is_written_as_a_schedule_writes_it() -> None:
    assert '{"fire":"j","revision":3,"due":1772442000000}' == runs.to_text(FIRING)


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{}", '{"fire":"j"}', '{"fire":1,"revision":1,"due":1}', '{"run":"j","id":"r"}'],
)
def test_what_is_none_of_ours_is_rejected(body: str) -> None:
    with pytest.raises(Rejected):
        runs.from_text(body)


@pytest.mark.parametrize(
    ("message", "job", "now", "verdict"),
    [
        (FIRING, JOB, BEGIN, LiveDue()),
        (FIRING, JOB, at(10_000), LiveDue()),
        (FIRING, JOB, at(-5), LiveLater(BEGIN)),
        (FIRING, None, at(120), Early()),
        (FIRING, None, at(121), Spare()),
        (FIRING, replace(JOB, revision=2), at(120), Early()),
        (FIRING, replace(JOB, revision=2), at(121), Spare()),
        (FIRING, replace(JOB, revision=4), BEGIN, Spare()),
        (FIRING, replace(JOB, enabled=False), BEGIN, Spare()),
        (FIRING, replace(JOB, is_done=True), BEGIN, Spare()),
        (FIRING, replace(JOB, schedule=None), BEGIN, Spare()),
        (FIRING, replace(JOB, schedule=Once(BEGIN)), BEGIN, LiveDue()),
    ],
)
def test_a_firing_is_judged_by_its_job(
    message: Firing, job: ScheduledJob | None, now: object, verdict: Verdict
) -> None:
    assert verdict == runs.judge_firing(message, job, now)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "now_s", "verdict"),
    [
        (ROW, 0, LiveDue()),
        (replace(ROW, due=at(7)), 0, LiveLater(at(7))),
        (None, 120, Early()),
        (None, 121, Spare()),
        (replace(ROW, attempt=0), 5, Early()),
        (replace(ROW, state=RowState.RUNNING, started_at=BEGIN), 5, Early()),
        (replace(ROW, state=RowState.RUNNING, started_at=BEGIN), 121, Spare()),
        (replace(ROW, state=RowState.COMPLETED), 0, Spare()),
        (replace(ROW, attempt=2), 0, Spare()),
        (replace(ROW, attempt=3), 0, Spare()),
        (replace(ROW, attempt=2, state=RowState.DISCARDED), 0, Spare()),
        (replace(ROW, attempt=2, state=RowState.RUNNING, started_at=BEGIN), DEAD_S, LiveDue()),
        (
            replace(ROW, attempt=2, state=RowState.RUNNING, started_at=BEGIN),
            DEAD_S - 1,
            LiveLater(at(DEAD_S)),
        ),
        (
            replace(ROW, attempt=2, state=RowState.RUNNING, started_at=BEGIN),
            0,
            LiveLater(at(900)),  # as late as a queue can delay it, so that no schedule is made
        ),
    ],
)
def test_a_run_message_is_judged_by_its_row(
    row: Row | None, now_s: float, verdict: Verdict
) -> None:
    assert verdict == runs.judge_run(RUN, row, at(now_s))


def test_messages_that_wait_for_a_schedule_have_names_of_their_own() -> None:
    several: list[Firing | RunMessage] = [
        FIRING,
        replace(FIRING, revision=4),
        RUN,
        replace(RUN, attempt=3),
        replace(RUN, pool_idx=3),
        replace(RUN, run_id="1" * 32, job_id="2" * 32),
    ]

    names = [runs.later(each, at(7_200)).name for each in several]

    assert len(set(names)) == len(several)
    assert 64 >= max(map(len, names))
    assert names[2] == runs.later(RUN, at(7_200)).name


def test_a_message_comes_back_only_when_its_executor_is_dead() -> None:
    assert runs.FUNCTION_TIMEOUT < runs.DEAD_AFTER < runs.VISIBILITY


@pytest.mark.parametrize(("age_s", "after_s"), [(0, 1), (9.9, 1), (10, 15), (100, 15)])
def test_an_early_message_is_looked_at_less_often_when_it_is_old(
    age_s: float, after_s: int
) -> None:
    now = BEGIN + timedelta(seconds=age_s)
    assert [after_s] * 2 == [runs.put_back_after_s(each, now) for each in (FIRING, RUN)]
