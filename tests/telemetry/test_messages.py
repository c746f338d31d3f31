"""What is counted of messages: those that met somebody, and those that were lost."""

from __future__ import annotations

from chalicelib.engine.facts import MessageCorrelated, MessageNotCorrelated
from chalicelib.telemetry.metrics import Point, points_of


def test_a_message_that_met_somebody_is_counted_by_its_name() -> None:
    assert [Point("messages_correlated", (("message_name", "paid"),))] == list(
        points_of(MessageCorrelated("paid"))
    )


def test_a_message_that_was_lost_is_counted_with_the_reason() -> None:
    labels = (("message_name", "paid"), ("reason", "nobody waits"))

    assert [Point("message_correlation_failed", labels)] == list(
        points_of(MessageNotCorrelated("paid", "nobody waits"))
    )
