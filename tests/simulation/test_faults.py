"""Of two crashes that leave the same behind one is struck, and nothing else is left out."""

from __future__ import annotations

import pytest

from tests.simulation.faults import Call, Plan, Point, Strike, last_effect, paired
from tests.simulation.scenario import play
from tests.simulation.scenarios import SCENARIOS

CRASHES = {Strike.CRASH_BEFORE, Strike.CRASH_AFTER}


def crashes(points: list[Point], start: int = 0) -> list[tuple[int, Strike]]:
    return [(index, strike) for index, strike in paired(points, start) if strike in CRASHES]


def test_a_process_crashes_once_between_two_calls_that_change_something() -> None:
    calls = (Call.READ, Call.READ_MANY, Call.SEND, Call.READ, Call.WRITE)
    points = [Point(call, "process") for call in calls]

    assert crashes(points) == [
        (0, Strike.CRASH_BEFORE),
        (2, Strike.CRASH_AFTER),
        (4, Strike.CRASH_AFTER),
    ]


def test_each_process_crashes_before_its_own_first_call() -> None:
    points = [Point(Call.READ, "first"), Point(Call.READ, "second")]

    assert crashes(points) == [(0, Strike.CRASH_BEFORE), (1, Strike.CRASH_BEFORE)]


def test_a_second_crash_is_struck_right_after_a_first_strike_of_another_kind() -> None:
    points = [Point(Call.WRITE, "process"), Point(Call.WRITE, "process")]

    assert (1, Strike.CRASH_BEFORE) in crashes(points, 1)


def test_a_crash_after_work_and_after_showing_again_is_struck() -> None:
    points = [Point(call, "process") for call in (Call.SHOW, Call.READ)]

    assert crashes(points) == [(0, Strike.CRASH_BEFORE), (1, Strike.CRASH_BEFORE)]


def test_what_was_refused_has_no_effect_to_crash_after() -> None:
    points = [Point(Call.WRITE, "process", is_effective=False)]

    assert paired(points, 0) == [(0, Strike.CRASH_BEFORE), (0, Strike.LOST_ANSWER)]


def test_an_empty_receive_has_nothing_to_lose_or_to_double() -> None:
    points = [Point(Call.RECEIVE, "process", is_effective=False)]

    assert paired(points, 0) == [(0, Strike.CRASH_BEFORE)]


def answered_by(*calls: Point, is_answered: bool = True) -> list[Point]:
    request = Point(Call.REQUEST, "client", begins="process", is_answered=is_answered)
    return [request, *calls]


@pytest.mark.parametrize(
    "points",
    [
        answered_by(Point(Call.WRITE, "process"), Point(Call.READ, "process")),
        answered_by(Point(Call.READ, "process")),
        answered_by(Point(Call.RECEIVE, "process", is_effective=False), is_answered=False),
    ],
    ids=["a crash after the last effect", "a crash before anything", "no loss"],
)
def test_an_answer_is_not_lost_where_the_same_is_left_by(points: list[Point]) -> None:
    assert (0, Strike.LOST_ANSWER) not in paired(points, 0)
    assert (0, Strike.DUPLICATE) in paired(points, 0)


@pytest.mark.parametrize(
    "points",
    [
        answered_by(Point(Call.WRITE, "process", is_effective=False)),
        answered_by(Point(Call.WRITE, "process"), Point(Call.SHOW, "process")),
        [Point(Call.REQUEST, "client")],
    ],
    ids=["nothing was written", "nothing may crash after it", "it goes on when all is well"],
)
def test_an_answer_is_lost_where(points: list[Point]) -> None:
    assert (0, Strike.LOST_ANSWER) in paired(points, 0)


def test_after_the_last_effect_only_queues_change() -> None:
    calls = (Call.SEND, Call.WRITE, Call.READ, Call.DELETE)
    points = [Point(call, "process") for call in calls]
    refused = Point(Call.TRANSACT, "process", is_effective=False)

    assert 1 == last_effect([*points, refused])
    assert -1 == last_effect(points[:1])


def test_what_is_lively_ends_with_the_play_or_with_a_later_effect() -> None:
    ended = play(SCENARIOS["cancel-and-complete"], Plan())
    fired = play(SCENARIOS["timer-start"], Plan())  # the play is over before the timer is due

    assert last_effect(ended.points) < ended.lively < len(ended.points)
    assert last_effect(fired.points) + 1 == fired.lively


def test_a_run_tells_whose_its_calls_were_and_what_they_changed() -> None:
    points = play(SCENARIOS["two-workers"], Plan()).points

    assert len({id(point.process) for point in points}) > 3
    assert [point for point in points if point.call is Call.TRANSACT and point.is_effective]
    assert all(
        point.is_effective
        for point in points
        if point.call not in (Call.WRITE, Call.TRANSACT, Call.RECEIVE)
    )
