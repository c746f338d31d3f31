"""How the table on DynamoDB deals with what DynamoDB answers when it is not at its best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from botocore.stub import Stubber

from chalicelib.delivery import horizon
from chalicelib.errors import Busy, Conflict
from chalicelib.ports import (
    HISTORY,
    LIVE,
    Absent,
    Delete,
    Equals,
    Item,
    ItemKey,
    Put,
    Refused,
    Update,
    Written,
)
from chalicelib.store.dynamodb import DynamoTable
from chalicelib.store.retries import DEADLINE_S, Retries

NAMES = {LIVE: "headrace-test", HISTORY: "headrace-test-history"}
KEY = ItemKey(LIVE, "I#1", "R")
PLACE = {"pk": {"S": "I#1"}, "sk": {"S": "R"}}
ITEM: Item = {"pk": "I#1", "sk": "R", "n": 1}
OURS, THEIRS = {"S": "ours"}, {"S": "theirs"}
THERE = (Absent("pk"),)
TIMEOUT = ReadTimeoutError(endpoint_url="http://dynamodb")
BUSY = [
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TransactionConflictException",
]
UNKNOWN = ["InternalServerError", "ServiceUnavailable", "TransactionInProgressException"]


class Time:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def retries(self, share: float = 1.0) -> Retries:
        return Retries(self.sleep, lambda: share, lambda: self.now)


class Client:
    """A client whose calls end as they are told to, one after another; it remembers them."""

    def __init__(self, *outcomes: Exception | Mapping[str, Any]) -> None:
        self.outcomes = list(outcomes)
        self.requests: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.requests.append(request)
            outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        return call


def error(code: str, **fields: Any) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}, **fields}, "Call")  # type: ignore[typeddict-item]


def cancelled(*codes: str, item: Mapping[str, Any] | None = None) -> ClientError:
    reasons = [{"Code": code} | ({"Item": item} if item else {}) for code in codes]
    return error("TransactionCanceledException", CancellationReasons=reasons)


def table(*outcomes: Exception | Mapping[str, Any], time: Time | None = None) -> DynamoTable:
    return tabled(Client(*outcomes), time)


def tabled(client: Any, time: Time | None = None) -> DynamoTable:
    retries = (time or Time()).retries()
    return DynamoTable(client, NAMES, retries=retries, new_id=lambda: "ours")


# --- what is sent, as botocore's own model has it ----------------------------------------------


@pytest.fixture
def stubbed() -> Iterator[tuple[DynamoTable, Stubber]]:
    client = boto3.client(
        "dynamodb", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as stubber:
        yield tabled(client), stubber
        stubber.assert_no_pending_responses()
    client.close()


def test_a_conditional_write_leaves_its_id_and_asks_for_the_old_item(
    stubbed: tuple[DynamoTable, Stubber],
) -> None:
    store, stubber = stubbed
    stubber.add_response(
        "update_item",
        {"Attributes": PLACE | {"n": {"N": "2"}, "write_id": OURS}},
        {
            "TableName": "headrace-test",
            "Key": PLACE,
            "UpdateExpression": "SET #0 = :0, #1 = :1 REMOVE #2 ADD #3 :2",
            "ConditionExpression": "#0 = :3 AND attribute_not_exists(#4)",
            "ExpressionAttributeNames": {
                "#0": "n",
                "#1": "write_id",
                "#2": "gone",
                "#3": "count",
                "#4": "owner",
            },
            "ExpressionAttributeValues": {
                ":0": {"N": "2"},
                ":1": OURS,
                ":2": {"N": "1"},
                ":3": {"N": "1"},
            },
            "ReturnValues": "ALL_NEW",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
    )

    written = store.write(
        Update(KEY, {"n": 2}, ("gone",), {"count": 1}, (Equals("n", 1), Absent("owner")))
    )

    assert Written(ITEM | {"n": 2}) == written


def test_a_transaction_carries_the_token_and_its_items_no_id(
    stubbed: tuple[DynamoTable, Stubber],
) -> None:
    store, stubber = stubbed
    put = {
        "TableName": "headrace-test-history",
        "Item": {"pk": {"S": "I#1"}, "sk": {"S": "H"}, "n": {"N": "1"}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    delete = {
        "TableName": "headrace-test",
        "Key": PLACE,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    stubber.add_response(
        "transact_write_items",
        {},
        {"TransactItems": [{"Put": put}, {"Delete": delete}], "ClientRequestToken": "turn"},
    )

    store.transact([Put(ItemKey(HISTORY, "I#1", "H"), {"n": 1}), Delete(KEY)], "turn")


def test_a_refusal_is_read_from_botocores_error(stubbed: tuple[DynamoTable, Stubber]) -> None:
    store, stubber = stubbed
    stubber.add_client_error(
        "put_item",
        "ConditionalCheckFailedException",
        modeled_fields={"Item": PLACE | {"n": {"N": "1"}, "write_id": THEIRS}},
    )
    stubber.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        modeled_fields={
            "CancellationReasons": [
                {"Code": "None"},
                {"Code": "ConditionalCheckFailed", "Item": PLACE | {"n": {"N": "1"}}},
            ]
        },
    )

    other = ItemKey(LIVE, "I#2", "R")
    assert Refused(ITEM) == store.write(Put(KEY, {"n": 2}, THERE))
    assert Refused(ITEM, 1) == store.transact([Put(other, {}), Put(KEY, {}, THERE)], "turn")


def test_keys_that_a_batch_leaves_out_are_asked_for_again(
    stubbed: tuple[DynamoTable, Stubber],
) -> None:
    store, stubber = stubbed
    second = {"pk": {"S": "I#2"}, "sk": {"S": "R"}}
    rest = {"headrace-test": {"ConsistentRead": True, "Keys": [second]}}
    wanted = {"headrace-test": {"ConsistentRead": True, "Keys": [PLACE, second]}}
    stubber.add_response(
        "batch_get_item",
        {"Responses": {"headrace-test": [PLACE]}, "UnprocessedKeys": rest},
        {"RequestItems": wanted},
    )
    stubber.add_response(
        "batch_get_item",
        {"Responses": {"headrace-test": [second]}, "UnprocessedKeys": {}},
        {"RequestItems": rest},
    )

    found = store.get_many([KEY, ItemKey(LIVE, "I#2", "R"), KEY])

    assert {KEY, ItemKey(LIVE, "I#2", "R")} == found.keys()


def test_a_batch_that_stays_incomplete_says_that_dynamodb_is_busy() -> None:
    rest = {"headrace-test": {"ConsistentRead": True, "Keys": [PLACE]}}

    with pytest.raises(Busy, match="unread"):
        table({"Responses": {}, "UnprocessedKeys": rest}).get_many([KEY])


# --- repeating ---------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [*BUSY, *UNKNOWN])
def test_what_may_succeed_later_is_repeated(code: str) -> None:
    client = Client(error(code), error(code), {"Item": PLACE | {"n": {"N": "1"}}})

    assert ITEM == tabled(client).get(KEY)
    assert 3 == len(client.requests)


def test_a_transaction_that_met_another_is_repeated_with_the_same_token() -> None:
    busy = cancelled("None", "TransactionConflict", "ThrottlingError")
    client = Client(busy, TIMEOUT, error("TransactionInProgressException"), {})

    assert Written(None) == tabled(client).transact([Put(KEY, {})], "turn")
    assert ["turn"] * 4 == [request["ClientRequestToken"] for request in client.requests]


def test_a_failed_condition_decides_also_where_another_transaction_was_in_the_way() -> None:
    mixed = cancelled("TransactionConflict", "ConditionalCheckFailed")

    assert Refused(None, 1) == table(mixed).transact([Put(KEY, {})], "turn")


def test_waits_double_from_20_milliseconds_to_a_second_until_the_deadline() -> None:
    time = Time()

    with pytest.raises(Busy):
        table(error("ThrottlingException"), time=time).get(KEY)

    assert [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0, 1.0] == time.slept[:8]
    assert {1.0} == set(time.slept[6:])
    assert DEADLINE_S - 1 < sum(time.slept) <= DEADLINE_S


def test_the_deadline_is_the_one_that_the_horizon_counts_with() -> None:
    assert horizon.DEADLINE.total_seconds() == DEADLINE_S


def test_waits_are_a_random_share() -> None:
    time = Time()
    shares = iter([0.0, 0.5, 0.25])
    retries = Retries(time.sleep, lambda: next(shares), lambda: time.now)
    client: Any = Client(*[error("ThrottlingException")] * 3, {})

    DynamoTable(client, NAMES, retries=retries).get(KEY)

    assert [0.0, 0.02, 0.02] == time.slept


# --- answers that were lost --------------------------------------------------------------------


@pytest.mark.parametrize("lost", [TIMEOUT, EndpointConnectionError(endpoint_url="x")], ids=str)
def test_a_write_whose_answer_was_lost_is_found_by_its_id(lost: Exception) -> None:
    old = PLACE | {"n": {"N": "1"}, "write_id": OURS}
    refusal = error("ConditionalCheckFailedException", Item=old)

    client = Client(lost, refusal)

    assert Written(ITEM) == tabled(client).write(Put(KEY, {"n": 1}, THERE))
    assert ["ours", "ours"] == [request["Item"]["write_id"]["S"] for request in client.requests]


def test_a_refusal_with_our_id_is_success_even_if_nobody_told_us_of_a_first_attempt() -> None:
    old = PLACE | {"n": {"N": "1"}, "write_id": OURS}

    outcome = table(error("ConditionalCheckFailedException", Item=old)).write(
        Update(KEY, {"n": 1}, condition=THERE)
    )

    assert Written(ITEM) == outcome


@pytest.mark.parametrize("mark", [{}, {"write_id": THEIRS}], ids=["nobody", "another"])
def test_a_refusal_with_another_id_is_a_refusal(mark: dict[str, Any]) -> None:
    refusal = error("ConditionalCheckFailedException", Item=PLACE | {"n": {"N": "1"}} | mark)

    assert Refused(ITEM) == table(TIMEOUT, refusal).write(Put(KEY, {"n": 1}, THERE))


def test_a_refusal_without_an_item_is_a_refusal() -> None:
    refusal = error("ConditionalCheckFailedException")

    assert Refused(None) == table(refusal).write(Update(KEY, {"n": 1}, condition=(Equals("n", 0),)))


def test_a_write_without_a_condition_leaves_no_id() -> None:
    client = Client({})

    assert Written(ITEM) == tabled(client).write(Put(KEY, {"n": 1}))
    assert "write_id" not in client.requests[0]["Item"]


def test_a_deadline_after_an_unknown_outcome_is_a_fault_and_no_conflict() -> None:
    """A conflict says that nothing was done, so a caller may start the same thing again."""
    with pytest.raises(ReadTimeoutError):
        table(TIMEOUT, error("ThrottlingException")).transact([Put(KEY, {})], "turn")

    with pytest.raises(ClientError, match="TransactionInProgress"):
        table(error("TransactionInProgressException")).transact([Put(KEY, {})], "turn")

    with pytest.raises(Conflict):
        table(cancelled("TransactionConflict")).transact([Put(KEY, {})], "turn")

    with pytest.raises(Busy):
        table(cancelled("TransactionConflict", "ThrottlingError")).transact([Put(KEY, {})], "turn")


# --- what is nobody's turn ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        error("ValidationException"),
        error("IdempotentParameterMismatchException"),
        cancelled("None", "ValidationError"),
        cancelled("ItemCollectionSizeLimitExceeded"),
    ],
    ids=["validation", "token", "a write", "collection"],
)
def test_a_wrong_request_is_a_value_error_and_not_repeated(wrong: ClientError) -> None:
    client = Client(wrong)

    with pytest.raises(ValueError):
        tabled(client).transact([Put(KEY, {})], "turn")
    assert 1 == len(client.requests)


def test_any_other_error_comes_out_as_it_is() -> None:
    client = Client(error("AccessDeniedException"))

    with pytest.raises(ClientError, match="AccessDenied"):
        tabled(client).get(KEY)
    with pytest.raises(ClientError, match="AccessDenied"):
        tabled(client).transact([Put(KEY, {})], "turn")
    assert 2 == len(client.requests)
