"""Every implementation of the table: in memory, on (emulated) DynamoDB, and on moto."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from chalicelib.ports import (
    Table,
)
from tests.contract.table_cases import emptied
from tests.contract.tables import on_dynamodb, on_moto
from tests.fakes.table import MemoryTable

# What moto 5.2 does otherwise than DynamoDB (contracts/emulation.md section 3): by test, and by a
# part of its id where not all of its cases are meant.
NOT_ON_MOTO = {
    "it_was_put_with_its_keys": "moto answers maps in maps in a form that no SDK reads",
    "an_update_makes_an_item": "moto fails at a removal from an item that is not there",
    "set={'li": "moto takes items over 400 kB from appended lists",
    "refuses_is_wrong[moto-item2]": "moto takes index keys of a wrong type",
    "400_kilobytes_is_the_largest": "moto counts a few bytes more",
    "Equals(name='missing', value=None)": "moto takes an absent attribute for null",
    "Equals(name='yes', value=1)": "moto takes 1 for true",
    "Equals(name='list', value=[True": "moto takes 1 for true",
    "AtMost(name='text'": "moto fails at numbers compared with text",
    "Above(name='text'": "moto fails at numbers compared with text",
    "AtMost(name='yes'": "moto compares numbers with true",
    "the_same_token": "moto forgets tokens, and applies the same write twice",
    "ends_at_its_limit_even_if": "moto gives no cursor when a limit equals the rest",
    "racing": "moto is not atomic between threads",
}


@pytest.fixture(
    params=["memory", pytest.param("dynamodb", marks=pytest.mark.aws), "moto"], scope="module"
)
def shared(request: pytest.FixtureRequest) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Return what makes an empty table; on DynamoDB it is one that is emptied."""
    if request.param == "memory":
        yield request.param, MemoryTable
        return
    on_moto_or_emulated = (
        on_moto()
        if request.param == "moto"
        else on_dynamodb(str(request.getfixturevalue("emulated_aws")))
    )
    for table in on_moto_or_emulated:
        yield request.param, lambda table=table: emptied(table)  # type: ignore[misc]


@pytest.fixture
def table(request: pytest.FixtureRequest, shared: tuple[str, Callable[[], Table]]) -> Table:
    where, make = shared
    reasons = [reason for part, reason in NOT_ON_MOTO.items() if part in request.node.name]
    if where == "moto" and reasons:
        pytest.skip(reasons[0])
    return make()
