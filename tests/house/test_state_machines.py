"""The page of state machines says what the tables say."""

from __future__ import annotations

from tests.house.state_machines import PAGE, page


def test_the_page_is_fresh() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run `make docs`"
