"""Timer messages: what they say and what they turn out to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.delivery import timers
from chalicelib.delivery.timers import TimerMessage, judge
from chalicelib.delivery.verdicts import Early, LiveDue, LiveLater, Spare, Verdict
from chalicelib.engine.state import Timer
from chalicelib.errors import Rejected
from tests.fakes.clock import BEGIN

NOW = BEGIN
SECOND = timedelta(seconds=1)
TIMER = Timer(
    key=2**32 + 5,
    instance_key=2**32,
    element_id="patience",
    element_key=2**32 + 2,
    due=NOW,
    created_at=NOW - 10 * SECOND,
)
MESSAGE = TimerMessage(2**32, TIMER.key, NOW, version=3, first_sent=NOW - 10 * SECOND)


def test_a_message_comes_back_from_its_body_as_it_was() -> None:
    assert MESSAGE == timers.from_text(timers.to_text(MESSAGE))


def test_a_body_that_is_no_timer_message_is_rejected() -> None:
    with pytest.raises(Rejected, match="timer of a message body"):
        timers.from_text('{"instance":1}')


@pytest.mark.parametrize(
    ("verdict", "timer", "root_version"),
    [
        pytest.param(LiveDue(), TIMER, 3, id="its time has come"),
        pytest.param(
            Spare(), replace(TIMER, due=NOW + SECOND), 3, id="the record is due another time"
        ),
        pytest.param(Early(), None, None, id="no root yet"),
        pytest.param(Early(), None, 2, id="its turn may come"),
        pytest.param(Spare(), None, 3, id="its turn lost, or it was cancelled"),
    ],
)
def test_a_message_is_judged_by_the_record(
    verdict: Verdict, timer: Timer | None, root_version: int | None
) -> None:
    assert verdict == judge(MESSAGE, timer, root_version, NOW)


def test_a_message_before_its_time_is_for_later() -> None:
    assert LiveLater(NOW) == judge(MESSAGE, TIMER, 3, NOW - SECOND)


def test_an_early_message_is_kept_for_the_horizon_and_no_longer() -> None:
    old = replace(MESSAGE, first_sent=NOW - 121 * SECOND)

    assert Spare() == judge(old, None, 2, NOW)
    assert LiveDue() == judge(old, TIMER, 3, NOW)
