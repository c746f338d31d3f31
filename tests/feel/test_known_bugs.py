"""What other implementations of FEEL got wrong (contracts/bpmn.md)."""

from __future__ import annotations

from decimal import Decimal

from tests.feel.evaluating import value


def test_a_filter_of_a_null_list_is_null_or_finds_nothing() -> None:
    """Row 64 of the known ways to get it wrong."""
    assert value("x[item.a = 1]", {"x": None}) in (None, [])
    assert value("x[1]", {"x": None}) is None


def test_a_number_that_a_function_gives_is_an_index() -> None:
    """Row 64 of the known ways to get it wrong."""
    for n, found in ((3, None), (4, "a"), (5, "b"), (8, "b")):
        assert found == value("list[modulo(n, 3)]", {"list": ["a", "b", "c"], "n": Decimal(n)})


def test_a_filter_of_a_long_list_takes_no_stack() -> None:
    """Row 65 of the known ways to get it wrong."""
    numbers = [Decimal(n) for n in range(10_000)]

    assert numbers[9_000:] == value("list[item >= 9000]", {"list": numbers})
    assert 5_000 == value("count(list[even(item)])", {"list": numbers})


def test_a_date_that_is_not_in_the_calendar_is_null() -> None:
    """Row 65 of the known ways to get it wrong."""
    assert value('date("2024-02-30")') is None
    assert value("date(2023, 2, 29)") is None
    assert value('date("2024-02-29")') is not None


def test_there_is_no_position_nought() -> None:
    """Row 65 of the known ways to get it wrong."""
    assert value("sublist([1, 2, 3], 0)") is None
    assert value("sublist([1, 2, 3], 0, 2)") is None
    assert value("[1, 2, 3][0]") is None
