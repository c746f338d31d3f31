"""DynamoDB's limits and how it counts bytes, so that both tables refuse alike.

Source: DynamoDB Developer Guide, "Item sizes and formats", "Quotas".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chalicelib.ports import Attribute, Check, ItemKey, Put, Update, Write

ITEM_BYTES = 400 * 1024
TRANSACTION_BYTES = 4 * 1024 * 1024
TRANSACTION_WRITES = 100
BATCH_KEYS = 100  # of one BatchGetItem call
NUMBER_MAX = 10**38  # below it every integer has at most 38 digits, so none is rounded
PK_BYTES = 2048
SK_BYTES = 1024


def size_of(item: Mapping[str, Attribute]) -> int:
    """Return the bytes DynamoDB counts for an item.

    Raises: ValueError if a value is of no type that our items may have.
    """
    size = len("".join(item).encode())
    for value in item.values():
        # Most are such texts, which cost no call and no copy.
        size += len(value) if type(value) is str and value.isascii() else _value_size(value)
    return size


def _value_size(value: Attribute) -> int:
    if type(value) is int:
        if not -NUMBER_MAX < value < NUMBER_MAX:
            raise ValueError(f"expected a number of at most 38 digits, found {value}")
        return len(str(value).strip("-0")) // 2 + 2 + (value < 0)
    if isinstance(value, str):
        return len(value.encode())
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, list):
        return 3 + sum(1 + _value_size(each) for each in value)
    if isinstance(value, dict):
        return 3 + len(value) + size_of(value)
    raise ValueError(f"expected an attribute, found {type(value).__name__}: {value!r}")


def check_item(key: ItemKey, item: Mapping[str, Attribute]) -> int:
    """Return the item's size. Raises: ValueError if DynamoDB would refuse the item."""
    size = size_of(item)
    if size > ITEM_BYTES:
        raise ValueError(f"expected an item of at most {ITEM_BYTES} bytes, found {size}: {key}")
    if not 0 < len(key.pk.encode()) <= PK_BYTES or not 0 < len(key.sk.encode()) <= SK_BYTES:
        raise ValueError(f"expected keys of 1 to {PK_BYTES} and {SK_BYTES} bytes, found {key}")
    return size


def check_update(write: Update) -> None:
    """Raises: ValueError if DynamoDB would refuse the update whatever it finds."""
    touched = [*write.set, *write.remove, *write.add]
    if len(set(touched)) < len(touched) or {"pk", "sk"} & set(touched):
        raise ValueError(f"expected different attributes that are no keys, found {touched}")
    check_item(write.key, {**write.set, **write.add})


def check_transaction(writes: Sequence[Write]) -> None:
    """Raises: ValueError if DynamoDB would refuse the transaction as such."""
    check_targets(writes)
    total = sum(size_of(write.item) for write in writes if isinstance(write, Put))
    if total > TRANSACTION_BYTES:
        raise ValueError(f"expected at most {TRANSACTION_BYTES} bytes, found {total}")


def check_targets(writes: Sequence[Write]) -> None:
    """Raises: ValueError if DynamoDB would refuse the transaction for what it writes to."""
    if not 0 < len(writes) <= TRANSACTION_WRITES:
        raise ValueError(f"expected 1 to {TRANSACTION_WRITES} writes, found {len(writes)}")
    if len({write.key for write in writes}) < len(writes):
        raise ValueError("expected writes on different items, found two on one")
    if any(isinstance(write, Check) and not write.condition for write in writes):
        raise ValueError("expected a condition to check, found none")
