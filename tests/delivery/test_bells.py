"""Bells: what they say, where they go, and what they turn out to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.delivery import bells
from chalicelib.delivery.bells import Bell, judge, queue_of
from chalicelib.delivery.later import is_far, schedule_at
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.fakes.clock import BEGIN

NOW = BEGIN
SECOND = timedelta(seconds=1)
JOB = Job(
    key=2**32 + 3,
    instance_key=2**32,
    element_id="charge",
    element_key=2**32 + 2,
    scope=2**32,
    kind="bpmn",
    type="payment:charge",
    created_at=NOW - 60 * SECOND,
    ring=4,
)
BELL = Bell(
    job_key=JOB.key,
    kind="bpmn",
    type="payment:charge",
    profile=Profile.ZENBPM,
    number=4,
    at=NOW,
    first_sent=NOW - 5 * SECOND,
)


def test_a_bell_comes_back_from_its_body_as_it_was() -> None:
    new = replace(BELL, version=7, type='zwölf "✓"', profile=Profile.PRIOSTACK)

    assert BELL == bells.from_text(bells.to_text(BELL))
    assert new == bells.from_text(bells.to_text(new))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"job":"4294967299"}',
        bells.to_text(BELL).replace('"number":4', '"number":4.5'),
        bells.to_text(BELL).replace("zenbpm", "unheard-of"),
        bells.to_text(replace(BELL)).replace('"sent":', '"sent":9e30,"was":'),
    ],
)
def test_a_body_that_is_no_bell_is_rejected_with_what_was_found(text: str) -> None:
    with pytest.raises(Rejected, match="message body"):
        bells.from_text(text)


LOCKED = JOB._replace(owner="a", lock_until=NOW + 30 * SECOND)


@pytest.mark.parametrize(
    ("verdict", "job"),
    [
        pytest.param(LiveDue(), JOB, id="open and free"),
        pytest.param(Spare(), JOB._replace(kind="other"), id="another kind"),
        pytest.param(Spare(), JOB._replace(type="other"), id="another type"),
        pytest.param(Spare(), JOB._replace(state=JobState.COMPLETED), id="completed"),
        pytest.param(Spare(), JOB._replace(state=JobState.TERMINATED), id="terminated"),
        pytest.param(Spare(), JOB._replace(state=JobState.FAILED), id="waits for an operator"),
        pytest.param(Spare(), JOB._replace(ring=5), id="a newer bell is live"),
        pytest.param(Early(), JOB._replace(ring=3), id="not committed yet"),
        pytest.param(
            Early(),
            JOB._replace(ring=3, state=JobState.FAILED),
            id="being resolved",
        ),
        pytest.param(LiveLater(NOW + 30 * SECOND), LOCKED, id="locked"),
        pytest.param(LiveDue(), LOCKED._replace(lock_until=NOW), id="lock over"),
        pytest.param(
            LiveLater(NOW + 9 * SECOND), JOB._replace(retry_at=NOW + 9 * SECOND), id="backs off"
        ),
        pytest.param(LiveDue(), JOB._replace(retry_at=NOW), id="backoff over"),
        pytest.param(
            LiveLater(NOW + 40 * SECOND),
            LOCKED._replace(retry_at=NOW + 40 * SECOND),
            id="the later of both",
        ),
        pytest.param(Spare(), JOB._replace(owner="a"), id="held without end"),
    ],
)
def test_a_bell_is_judged_by_the_record(verdict: Verdict, job: Job) -> None:
    assert verdict == judge(BELL, job, None, NOW)


@pytest.mark.parametrize(
    ("verdict", "version", "root_version"),
    [
        pytest.param(Early(), 7, None, id="no root yet"),
        pytest.param(Early(), 7, 6, id="its turn may come"),
        pytest.param(Spare(), 7, 7, id="another turn made that version"),
        pytest.param(Spare(), 7, 9, id="its turn lost"),
        pytest.param(Spare(), None, None, id="the job was there, and is gone"),
    ],
)
def test_a_bell_without_a_record_is_judged_by_the_root(
    verdict: Verdict, version: int | None, root_version: int | None
) -> None:
    assert verdict == judge(replace(BELL, version=version), None, root_version, NOW)


def test_an_early_bell_is_kept_for_the_horizon_and_no_longer() -> None:
    young = replace(BELL, version=7, first_sent=NOW - 120 * SECOND)
    old = replace(young, first_sent=NOW - 121 * SECOND)

    assert Early() == judge(young, None, 6, NOW)
    assert Spare() == judge(old, None, 6, NOW)
    assert Early() == judge(young, JOB._replace(ring=3), None, NOW)
    assert Spare() == judge(old, JOB._replace(ring=3), None, NOW)


def test_a_live_bell_is_live_however_old_it_is() -> None:
    assert LiveDue() == judge(replace(BELL, first_sent=NOW - timedelta(days=13)), JOB, None, NOW)


def test_types_of_any_characters_have_queues_of_their_own() -> None:
    types = ["payment:charge", "payment.charge", "payment-charge", "✓", "", "x" * 500, "x" * 501]

    names = {queue_of("bpmn", type_, None) for type_ in types}

    assert len(types) == len(names)
    assert all(len("p" * 32 + name) <= 80 for name in names)
    assert all(name.replace("-", "").replace("_", "").isalnum() for name in names)
    assert queue_of("bpmn", "payment:charge", None).startswith("j-payment-charge-")


def test_kinds_and_profiles_that_do_not_share_have_queues_of_their_own() -> None:
    names = {
        queue_of("bpmn", "charge", None),
        queue_of("bpmn", "charge", Profile.ZENBPM),
        queue_of("bpmn", "charge", Profile.PRIOSTACK),
        queue_of("scheduled", "charge", None),
    }

    assert 4 == len(names)


def test_a_schedule_fires_early_enough_to_be_sent_on_with_a_delay() -> None:
    due = NOW + timedelta(days=2)

    times = [schedule_at(f"j-{number}-1-0", due) for number in range(2_000)]

    assert all(75 * SECOND <= due - at < 855 * SECOND for at in times)
    assert all(not is_far(due, at) for at in times)
    assert len(set(times)) > 600
