"""The horizon: longer than any commit may come after its promise."""

from __future__ import annotations

import pytest

from chalicelib.delivery import horizon


def test_no_commit_comes_later_than_the_horizon() -> None:
    horizon.check_horizon()
    assert horizon.latest_commit() < horizon.HORIZON


def test_times_that_could_lose_a_message_are_refused_at_start() -> None:
    with pytest.raises(RuntimeError, match="raise HORIZON or lower the timeouts"):
        horizon.check_horizon(horizon.COMMIT_WINDOW)
