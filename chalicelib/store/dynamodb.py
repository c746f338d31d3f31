"""The Table port on DynamoDB.

What may succeed when repeated is repeated here, so callers see outcomes only. A repeat must not
be taken for somebody else's write: a transaction carries the caller's token, and a single write a
random id that stays on the item, so a refusal whose old item has our id means that we were first.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, assert_never

from botocore.exceptions import ClientError, ConnectionError, HTTPClientError

from chalicelib.errors import Busy, Conflict
from chalicelib.faults import THROTTLED, busy, code_of, is_theirs, is_throttled, is_unreached
from chalicelib.ports import (
    LIVE,
    Attribute,
    Check,
    Delete,
    Item,
    ItemKey,
    Page,
    Put,
    Query,
    Refused,
    Update,
    Write,
    Written,
)
from chalicelib.store import expressions, quotas
from chalicelib.store.attributes import WRITE_ID, Wire, from_wire, to_wire
from chalicelib.store.expressions import Placeholders
from chalicelib.store.retries import Repeatable, Retries
from chalicelib.store.table import TABLES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DYNAMODB = "DynamoDB"
_CONFLICT = "TransactionConflict"
# Whether it was done is unknown, as with all that DynamoDB calls its own; a repeat finds out.
_UNKNOWN = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "ServiceUnavailable",
        "TransactionInProgressException",
    }
)
_WRONG = frozenset({"ValidationException", "IdempotentParameterMismatchException"})
# Reasons of a cancelled transaction that are no fault of its conditions.
_BUSY_REASONS = THROTTLED | {_CONFLICT}
_FAILED = "ConditionalCheckFailed"


class DynamoTable:
    """Both tables on DynamoDB; `names` says how LIVE and HISTORY are called there."""

    def __init__(
        self,
        client: DynamoDBClient,
        names: Mapping[str, str],
        *,
        retries: Retries | None = None,
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._client = client
        self._names = dict(names)
        self._tables = {name: table for table, name in self._names.items()}
        self._retries = retries or Retries()
        self._new_id = new_id

    # --- reads -------------------------------------------------------------------------------

    def get(self, key: ItemKey) -> Item | None:
        answer = self._call(lambda: self._client.get_item(**self._at(key), ConsistentRead=True))
        item = answer.get("Item")
        return None if item is None else from_wire(item)

    def get_many(self, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        wanted = list(dict.fromkeys(keys))
        found: dict[ItemKey, Item] = {}
        for start in range(0, len(wanted), quotas.BATCH_KEYS):
            self._get_batch(wanted[start : start + quotas.BATCH_KEYS], found)
        return found

    def _get_batch(self, keys: Sequence[ItemKey], found: dict[ItemKey, Item]) -> None:
        """Read up to 100 items; what DynamoDB leaves out of an answer is asked for again."""
        rest: dict[str, Any] = {}
        for key in keys:
            request = rest.setdefault(self._names[key.table], {"ConsistentRead": True, "Keys": []})
            request["Keys"].append(_key(key))

        def attempt() -> None:
            nonlocal rest
            with _judged(is_read=True):
                answer = self._client.batch_get_item(RequestItems=rest)
            for name, items in answer["Responses"].items():
                for item in map(from_wire, items):
                    place = ItemKey(self._tables[name], str(item["pk"]), str(item["sk"]))
                    found[place] = item
            rest = dict(answer.get("UnprocessedKeys") or {})
            if rest:
                raise Repeatable from Busy(
                    "DynamoDB left keys of a batch unread: repeat the request"
                )

        self._retries.run(attempt)

    def query(self, query: Query) -> Page:
        if query.first is not None and query.last is not None and query.first > query.last:
            return Page(())  # DynamoDB refuses such bounds
        places = TABLES[query.table].index(query.index) if query.index else TABLES[query.table]
        words = Placeholders()
        wanted = f"{words.name(places.pk)} = {words.value(query.pk)}"
        match query.first, query.last:
            case None, None:
                pass
            case first, None:
                wanted += f" AND {words.name(places.sk)} >= {words.value(first)}"
            case None, last:
                wanted += f" AND {words.name(places.sk)} <= {words.value(last)}"
            case first, last:
                bounds = f"{words.value(first)} AND {words.value(last)}"
                wanted += f" AND {words.name(places.sk)} BETWEEN {bounds}"
        request: dict[str, Any] = {
            "TableName": self._names[query.table],
            "KeyConditionExpression": wanted,
            "ScanIndexForward": query.ascending,
            **({"IndexName": query.index} if query.index else {"ConsistentRead": True}),
            **({"Limit": query.limit} if query.limit else {}),
            **_start(query.cursor),
            **words.parameters(),
        }
        return _page(self._call(lambda: self._client.query(**request)))

    def scan(
        self, segment: int, segments: int, cursor: Mapping[str, Attribute] | None = None
    ) -> Page:
        request: dict[str, Any] = {
            "TableName": self._names[LIVE],
            "ConsistentRead": True,
            "Segment": segment,
            "TotalSegments": segments,
            **_start(cursor),
        }
        return _page(self._call(lambda: self._client.scan(**request)))

    # --- writes ------------------------------------------------------------------------------

    def write(self, write: Put | Update | Delete) -> Written | Refused:
        write_id = self._new_id()
        request = self._request(write, write_id if write.condition else None)
        send, more = self._sender(write)

        def attempt() -> Written | Refused:
            try:
                with _judged():
                    return _written(write, request, send(**request, **more))
            except ClientError as error:
                if code_of(error) != "ConditionalCheckFailedException":
                    raise
                return _refused(error.response.get("Item"), write_id)

        return self._retries.run(attempt)

    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        quotas.check_transaction(writes)
        requests = [
            {_VERBS[type(write)]: self._request(write, None) | _RETURN_OLD} for write in writes
        ]

        def attempt() -> Written | Refused:
            try:
                with _judged():
                    self._client.transact_write_items(
                        TransactItems=requests,  # type: ignore[arg-type]
                        ClientRequestToken=token,
                    )
            except ClientError as error:
                return _cancelled(error)
            return Written(None)

        return self._retries.run(attempt)

    def _request(self, write: Write, write_id: str | None) -> dict[str, Any]:
        """Return a write as a request; one that may be repeated alone leaves its id behind."""
        words = Placeholders()
        mark: Item = {WRITE_ID: write_id} if write_id else {}
        match write:
            case Put(key, item):
                place: Item = {"pk": key.pk, "sk": key.sk}
                quotas.check_item(key, item | place)
                request = {
                    "TableName": self._names[key.table],
                    "Item": to_wire(item | place | mark),
                }
            case Update(key, changed, removed, added):
                quotas.check_update(write)
                marked = Update(key, {**changed, **mark}, removed, added)
                request = {**self._at(key), **expressions.update(marked, words)}
            case Delete(key) | Check(key):
                request = self._at(key)
            case _:
                assert_never(write)
        demanded = expressions.condition(write.condition, words)
        return {**request, **demanded, **words.parameters()}

    def _sender(self, write: Put | Update | Delete) -> tuple[Callable[..., Any], dict[str, Any]]:
        match write:
            case Put():
                return self._client.put_item, _RETURN_OLD
            case Update():
                return self._client.update_item, _RETURN_OLD | {"ReturnValues": "ALL_NEW"}
            case Delete():
                return self._client.delete_item, _RETURN_OLD
            case _:
                assert_never(write)

    def _at(self, key: ItemKey) -> dict[str, Any]:
        return {"TableName": self._names[key.table], "Key": _key(key)}

    def _call(self, send: Callable[[], Any]) -> Any:
        def attempt() -> Any:
            with _judged(is_read=True):
                return send()

        return self._retries.run(attempt)


_RETURN_OLD: dict[str, Any] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
_VERBS: Mapping[type[Write], str] = {
    Put: "Put",
    Update: "Update",
    Delete: "Delete",
    Check: "ConditionCheck",
}


@contextmanager
def _judged(*, is_read: bool = False) -> Iterator[None]:
    """Tell errors apart: repeatable, wrong requests (ValueError), and all others.

    A read changes nothing, so however it ends nothing was done.
    """
    try:
        yield
    except (ConnectionError, HTTPClientError) as error:
        if is_read or is_unreached(error):
            raise Repeatable from busy(DYNAMODB, error)
        raise Repeatable(is_unknown=True) from error
    except ClientError as error:
        code = code_of(error)
        is_unknown = code in _UNKNOWN or is_theirs(error)
        if code == f"{_CONFLICT}Exception":
            raise Repeatable from Conflict(f"other transactions were in the way: {error}")
        if is_throttled(error) or (is_unknown and is_read):
            raise Repeatable from busy(DYNAMODB, error)
        if is_unknown:
            raise Repeatable(is_unknown=True) from error
        if code in _WRONG:
            raise ValueError(str(error)) from error
        raise


def _written(write: Put | Update | Delete, request: Wire, answer: Wire) -> Written:
    match write:
        case Put():
            return Written(from_wire(request["Item"]))
        case Update():
            return Written(from_wire(answer["Attributes"]))
        case Delete():
            return Written(None)
        case _:
            assert_never(write)


def _refused(old: Any, write_id: str) -> Written | Refused:
    """Explain a refusal by the old item: if it has our id, an earlier attempt was done."""
    if old is not None and old.get(WRITE_ID) == {"S": write_id}:
        return Written(from_wire(old))
    return Refused(None if old is None else from_wire(old))


def _cancelled(error: ClientError) -> Refused:
    """Explain why a transaction was cancelled. Raises: Repeatable, ValueError, the error."""
    if code_of(error) != "TransactionCanceledException":
        raise error
    reasons: list[Any] = list(error.response.get("CancellationReasons", ()))
    codes = [reason.get("Code", "None") for reason in reasons]
    if _FAILED in codes:
        index = codes.index(_FAILED)
        old = reasons[index].get("Item")
        return Refused(None if old is None else from_wire(old), index)
    if codes and set(codes) <= _BUSY_REASONS | {"None"}:
        if set(codes) <= {_CONFLICT, "None"}:
            raise Repeatable from Conflict(f"other transactions were in the way: {error}")
        raise Repeatable from busy(DYNAMODB, error)
    raise ValueError(str(error)) from error


def _key(key: ItemKey) -> Wire:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def _start(cursor: Mapping[str, Attribute] | None) -> dict[str, Any]:
    return {"ExclusiveStartKey": to_wire(cursor)} if cursor else {}


def _page(answer: Any) -> Page:
    cursor = answer.get("LastEvaluatedKey")
    items = [from_wire(item) for item in answer["Items"]]
    return Page(items, None if cursor is None else from_wire(cursor))
