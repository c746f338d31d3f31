"""Decisions that were made: one item each in the history table, which never changes.

One that a process called lies in the collection of its instance and is written with the turn that
made it; one that a caller of the API asked for has a key block, and so a collection, of its own.
An index tells the time and the definition of all of them.

The audit is JSON, compressed, for it repeats itself; one object for each decision on the way:

    {"id", "name", "kind", "output", "inputs": [{"id", "name", "expression", "value"}, ...],
     "rules": [{"id", "number", "outputs": [{"id", "name", "value"}, ...]}, ...]}
"""

from __future__ import annotations

import zlib

from chalicelib import json_text
from chalicelib.engine.decided import DecisionMade, Evaluated
from chalicelib.engine.limits import ITEM_BYTES_MAX
from chalicelib.errors import TooLarge
from chalicelib.ports import Item, Put, Table
from chalicelib.store import aliases, fields, quotas, table
from chalicelib.store.moments import to_ms

_FIELDS = (
    *fields.plain("decision_id", "definition_key", "resource_id"),
    *fields.plain("instance_key", "scope", "element_id", "element_key"),
    *fields.times("at"),
)


def put(made: DecisionMade, expires_at: int | None = None) -> Put:
    """Return the write that keeps a decision. Raises: TooLarge if it could not be read again."""
    output = json_text.dumps(made.evaluated.output)
    audit = json_text.dumps(list(made.evaluated.audit))
    for text in (output, audit):
        _check_depth(made, text)
    shard = table.shard_pk(table.DECISIONS, table.shard_of(made.key))
    item: Item = {
        **fields.write(_FIELDS, made),
        "output": output,
        "audit": zlib.compress(audit.encode()),
        "decided_in": shard,
        "decided_at": table.listed_at(to_ms(made.at), made.key, made.definition_key),
    }
    if expires_at is not None:
        item["expires_at"] = expires_at
    return Put(table.decision_key(made.instance_key or made.key, made.key), item)


def keep(store: Table, made: DecisionMade, expires_at: int | None) -> None:
    """Write a decision that no process called. Raises: TooLarge."""
    write = put(made, expires_at)
    size = quotas.size_of(write.item)
    if size > ITEM_BYTES_MAX:
        raise TooLarge(
            f"expected at most {ITEM_BYTES_MAX} bytes in the audit of a decision, found {size}"
        )
    store.write(write)


def get(store: Table, key: int) -> DecisionMade | None:
    """Return a decision by its key."""
    own = aliases.own(key)
    item = store.get(table.decision_key(own, key))
    if item is None:  # of a further block of an instance, or of none
        home = aliases.instances_of(store, [key]).get(key, own)
        item = None if home == own else store.get(table.decision_key(home, key))
    return None if item is None else of_item(item)


def _check_depth(made: DecisionMade, text: str) -> None:
    if text.count("[") + text.count("{") > json_text.DEPTH_MAX:
        try:
            json_text.loads(text)
        except ValueError as error:
            raise TooLarge(f"decision {made.decision_id}: {error}") from error


def of_item(item: Item) -> DecisionMade:
    """Read a decision."""
    packed, own = item["audit"], fields.read(_FIELDS, item)
    assert isinstance(packed, bytes)
    audit = json_text.loads(zlib.decompress(packed))
    output = json_text.loads(str(item["output"]))
    assert isinstance(audit, list)
    return DecisionMade(
        key=int(str(item["sk"]).removeprefix(table.DECISION)),
        evaluated=Evaluated(output, tuple(audit)),
        **own,
    )
