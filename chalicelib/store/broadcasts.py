"""Broadcasts of signals as they were begun: kept until nobody is left that they were for.

What is left of one is told from command to command; this is what the sweeper begins again from
when such a command is lost. DynamoDB removes it after a week at the latest.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from chalicelib import json_text
from chalicelib.engine.commands import BroadcastSignal
from chalicelib.ports import LIVE, Delete, Item, ItemKey, Put, Table
from chalicelib.store import table
from chalicelib.store.moments import from_ms, to_ms

PK, SK = "A#", "A"
KEPT = timedelta(days=7)  # so many daily sweeps look at it


def put(store: Table, command: BroadcastSignal) -> None:
    """Keep a broadcast that begins; beginning it again keeps it once."""
    item: Item = {
        "id": command.id,
        "name": command.name,
        "at": to_ms(command.at),
        "variables": json_text.dumps(command.variables),
        "expires_at": to_ms(command.at + KEPT) // 1000,
    }
    store.write(Put(_place(command.id), item))


def of_item(item: Item) -> BroadcastSignal:
    """Read one, as the command that begins it."""
    values: Any = json_text.loads(str(item["variables"]))
    at = from_ms(int(str(item["at"])))
    return BroadcastSignal(str(item["id"]), str(item["name"]), at, values)


def drop(store: Table, id_: str) -> None:
    """Forget a broadcast that is done."""
    store.write(Delete(_place(id_)))


def _place(id_: str) -> ItemKey:
    return ItemKey(LIVE, f"{PK}{table.name_of(id_)}", SK)
