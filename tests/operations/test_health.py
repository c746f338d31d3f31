"""Ready means that a request would succeed."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.operations.health import reasons_not_ready
from chalicelib.ports import Item, ItemKey
from tests.fakes.table import MemoryTable
from tests.operations.stage import Stage


class Unreachable(MemoryTable):
    """A table that does not answer."""

    def get(self, key: ItemKey) -> Item | None:
        raise ConnectionError("db-17.internal: connection refused")


def test_a_table_that_answers_is_ready() -> None:
    assert [] == reasons_not_ready(Stage().ports)


def test_a_table_that_does_not_answer_is_told_without_anything_internal() -> None:
    (reason,) = reasons_not_ready(replace(Stage().ports, table=Unreachable()))

    assert "the live table does not answer: ConnectionError" == reason
