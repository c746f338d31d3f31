"""The writes that make of the instance before a turn the one after it.

A record that is new is put; one that changed is updated *in the attributes that changed*, so a
lock or a token that a worker took meanwhile stays; one that is gone is deleted. Each write has
the condition its decision rests on, and the root's version guards them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chalicelib import json_text
from chalicelib.engine.guards import Guard
from chalicelib.engine.keys import first_key
from chalicelib.engine.limits import ACTIONS_MAX, ITEM_BYTES_MAX, ROOT_BYTES_MAX, TURN_BYTES_MAX
from chalicelib.engine.state import Instance, Record, RecordKey, Variables
from chalicelib.engine.turn import Turn
from chalicelib.errors import TooLarge
from chalicelib.ports import Attribute, Check, Condition, Delete, Item, ItemKey, Put, Update, Write
from chalicelib.store import dmn_decisions, history, items, quotas, retention, subscriptions, table
from chalicelib.store.conditions import condition
from chalicelib.store.moments import to_ms

Items = Mapping[ItemKey, Item]
Planned = tuple[Write, Item]  # with the item as it will be, as far as turns write it


def writes(turn: Turn) -> list[Write]:
    """Return the writes of a turn, the root's first; none if it changes nothing."""
    return _written(turn, _plan(turn)) if turn.changes else []


def measure(turn: Turn) -> list[Write]:
    """Return the writes of a turn, for whoever commits it, if it fits.

    Raises: TooLarge, naming the bound that the turn would pass, and what was found.
    """
    if not turn.changes:
        return []
    plan = list(_plan(turn))
    _check(turn, plan)
    return _written(turn, plan)


def _written(turn: Turn, plan: Iterable[Planned]) -> list[Write]:
    """Return the writes; the root has its time to live last, when all else has it."""
    expires_at = retention.expires_at(turn.after.root)
    root, *rest = (write for write, _ in plan)
    return [root, *(_with_expiry(write, expires_at) for write in rest)]


def _check(turn: Turn, plan: Sequence[Planned]) -> None:
    name = f"instance {turn.after.key}"
    if len(plan) > ACTIONS_MAX:
        raise TooLarge(f"{name}: expected at most {ACTIONS_MAX} writes a turn, found {len(plan)}")
    total = 0
    for write, item in plan:
        size = quotas.size_of(item)
        bound = ROOT_BYTES_MAX if write.key.sk == table.ROOT else ITEM_BYTES_MAX
        if size > bound:
            what = table.words_of(write.key)
            raise TooLarge(f"{name}: expected at most {bound} bytes in {what}, found {size}")
        _check_depth(name, item)
        total += size
    if total > TURN_BYTES_MAX:
        raise TooLarge(f"{name}: expected at most {TURN_BYTES_MAX} bytes a turn, found {total}")


def update(place: ItemKey, old: Item, new: Item, demanded: Condition = ()) -> Update | None:
    """Return the write of the attributes that differ, None if none does."""
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    removed = tuple(name for name in old if name not in new)
    return Update(place, changed, removed, condition=demanded) if changed or removed else None


def _plan(turn: Turn) -> Iterator[Planned]:
    before = turn.before.records if turn.before else {}
    after = turn.after.records
    yield _root_write(turn)
    for key, record in after.items():
        old = before.get(key)
        if old is not record:
            yield from _record_writes(turn, key, old, record)
    for key, record in before.items():
        if key not in after:
            yield from _record_writes(turn, key, record, None)
    yield from subscriptions.entries(turn)
    if (lock := subscriptions.lock_write(turn)) is not None:
        yield lock
    for block in turn.blocks:
        alias: Item = {"alias_of": turn.after.key}
        place = table.root_key(first_key(block))
        yield Put(place, alias, condition(Guard.NEW, None)), alias
    for put in (*history.puts(turn), *_decided(turn)):
        yield put, put.item


def _decided(turn: Turn) -> Iterator[Put]:
    """Yield what keeps the decisions that were made; the root's version guards them too."""
    for made in turn.decided:
        if made.evaluated.problem is None:
            yield dmn_decisions.put(made)


def _root_write(turn: Turn) -> Planned:
    place, item = table.root_key(turn.after.key), _root_item(turn.after)
    touched: Item = {"turn_at": to_ms(turn.at)}
    if turn.before is None:
        return Put(place, item | touched, condition(Guard.START, None)), item
    demanded = condition(Guard.TURN, turn.before.root)
    write = update(place, _root_item(turn.before), item | touched, demanded)
    assert write is not None  # its version and its time differ
    return write, item


def _root_item(instance: Instance) -> Item:
    top = instance.records.get(RecordKey(Variables, instance.key))
    return items.of_root(instance.root, top if isinstance(top, Variables) else None)


def _record_writes(
    turn: Turn, key: RecordKey, old: Record | None, new: Record | None
) -> Iterator[Planned]:
    before, after = _items(turn.after.key, old), _items(turn.after.key, new)
    guard = turn.guards.get(key, Guard.NEW if old is None else Guard.CHANGED)
    demanded = condition(guard, old)
    for place, item in after.items():
        if place not in before:
            yield Put(place, item, demanded if old is None else ()), item
        elif write := update(place, before[place], item, demanded):
            yield write, item
        elif demanded:
            yield Check(place, demanded), item
        demanded = ()  # the first item is the record; what lies apart goes with it
    for place in before:
        if place not in after:
            yield Delete(place), {}


def _items(instance: int, record: Record | None) -> Items:
    """Return a record's items; the root holds the top scope's variables while they are small."""
    match record:
        case None:
            return {}
        case Variables(scope, values) if scope == instance:
            if items.is_small(json_text.dumps(values)):
                return {}
    return items.of_record(instance, record)


def _with_expiry(write: Write, expires_at: int | None) -> Write:
    if expires_at is None:
        return write
    expiry: dict[str, Attribute] = {"expires_at": expires_at}
    match write:
        case Put(key, item, demanded):
            return Put(key, item | expiry, demanded)
        case Update(key, changed, removed, added, demanded):
            return Update(key, {**changed, **expiry}, removed, added, demanded)
    return write


def _check_depth(name: str, item: Item) -> None:
    """Refuse JSON that could be written but not read again."""
    for attribute in ("variables", "values", "inputs", "outputs", "events"):
        found = item.get(attribute)
        for text in found if isinstance(found, list) else [found]:
            if isinstance(text, str) and text.count("[") + text.count("{") > json_text.DEPTH_MAX:
                try:
                    json_text.loads(text)
                except ValueError as error:
                    raise TooLarge(f"{name}: {attribute}: {error}") from error
