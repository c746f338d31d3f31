"""What an aggregator does with the messages of one key."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib import feel
from chalicelib.routing import groups, reading
from chalicelib.routing.definition import MEMBERS_MAX, Aggregator
from chalicelib.routing.groups import Full
from chalicelib.routing.messages import Entry, Group, Message, Place
from tests.fakes.clock import BEGIN
from tests.play import to_json

DAY = timedelta(days=1)
OPENED = (BEGIN, "g")
AT = feel.Moment(BEGIN)


def aggregator(**declared: Any) -> Aggregator:
    return reading.aggregator("all", to_json({"to": "b", **declared}))


def entry(id_: str = "1", body: Any = 1) -> Entry:
    message = Message(id_, to_json({"body": body})["body"], "k")
    return Entry(
        channel="a",
        message=message,
        nonce="n",
        entered_at=BEGIN,
        due=BEGIN,
        expires_at=BEGIN + DAY,
    )


def joined(of: Aggregator, group: Group | None, one: Entry) -> Group | Full:
    return groups.joined(of, group, one, one.message, OPENED)


def opened(of: Aggregator) -> Group:
    group = joined(of, None, entry())
    assert isinstance(group, Group)
    return group


def test_a_group_ends_at_its_timeout_or_at_its_first_messages_time_to_live() -> None:
    assert BEGIN + timedelta(seconds=5) == opened(aggregator(timeout=5_000)).due
    assert BEGIN + DAY == opened(aggregator(count=2)).due


def test_a_group_takes_no_more_than_its_limits() -> None:
    of = aggregator(count=2)
    many = replace(opened(of), members=(Place("a", "1"),) * MEMBERS_MAX)

    assert isinstance(joined(of, many, entry("2")), Full)
    assert isinstance(joined(of, opened(of), entry("2", "x" * 149_990)), Full)


def test_a_group_is_released_by_its_count_before_its_condition_is_asked() -> None:
    of = aggregator(count=1, condition="=assert(null, false)")
    members = [("a", entry().message)]

    assert groups.COUNT == groups.completed_by(of, opened(of), members, AT)
    with pytest.raises(feel.FeelError):
        groups.completed_by(replace(of, count=2), opened(of), members, AT)


def test_what_is_released_says_what_it_is() -> None:
    of = aggregator(count=1, body="={n: count(messages), of: correlationKey}")

    made = groups.released(of, opened(of), [("a", entry().message)], groups.COUNT, AT)

    assert ("all.g", "k", to_json({"n": 1, "of": "k"})) == (
        made.id,
        made.correlation_key,
        made.body,
    )
    assert {"aggregator": "all", "releasedBy": "count"} == made.headers


def test_what_is_released_is_not_larger_than_a_group() -> None:
    of = aggregator(count=1, body='=string join(for i in 1..2000 return "' + "x" * 100 + '")')
    with pytest.raises(feel.FeelError):
        groups.released(of, opened(of), [("a", entry().message)], groups.COUNT, AT)
