"""Members of message bodies that more than one sender writes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.delivery import bodies
from chalicelib.errors import Rejected

MOMENT = datetime(2022, 3, 22, 18, 59, 43, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        '{"due": 1647975583000}',
        '{"due": "2022-03-22T18:59:43Z"}',
        '{"due": "2022-03-22T18:59:43"}',
        '{"due": "2022-03-22T19:59:43+01:00"}',
    ],
)
def test_a_moment_is_a_number_or_what_eventbridge_puts_in(text: str) -> None:
    assert MOMENT == bodies.moment_or_text(bodies.parse(text), "due")


@pytest.mark.parametrize(
    "text", ["{}", '{"due": "<aws.scheduler.scheduled-time>"}', '{"due": true}', '{"due": ""}']
)
def test_what_is_no_moment_is_rejected(text: str) -> None:
    with pytest.raises(Rejected, match="expected due of a message body"):
        bodies.moment_or_text(bodies.parse(text), "due")
