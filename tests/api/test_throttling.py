"""What a caller sees when AWS takes no more calls: 503 in the shape of its dialect, nothing done.

The ports are those on AWS, over clients that refuse as the services do: no emulator throttles
(contracts/emulation.md section 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from chalicelib import wiring
from chalicelib.delivery.firings import EventBridgeFirings
from chalicelib.delivery.scheduler import EventBridgeSchedules
from chalicelib.delivery.sqs import SqsQueues
from chalicelib.ports import HISTORY, LIVE, Item, Ports, Refused, Written
from chalicelib.store.dynamodb import DynamoTable
from chalicelib.store.retries import Retries
from tests.api.client import Answer, Client
from tests.api.driver import activate, create, deploy, one_task
from tests.fakes.table import MemoryTable

ENDPOINT = "https://aws.example"
ROLE = "arn:aws:iam::123456789012:role/schedules"
JOB: dict[str, Any] = {"name": "drain", "type": "http", "url": "https://shop.example/drain"}
JOB |= {"schedule": {"every_ms": 3_600_000}}


def refusal(code: str, status: int = 400, **more: Any) -> ClientError:
    metadata = {"HTTPStatusCode": status}
    told = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": metadata, **more}
    return ClientError(cast("Any", told), "Operation")


@dataclass
class Refusing:
    """A client of any service whose every call ends with an error; `calls` names them."""

    error: Exception
    calls: list[str] = field(default_factory=list)
    meta: Any = field(default_factory=lambda: type("Meta", (), {"region_name": "eu-west-1"}))

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            self.calls.append(name)
            raise self.error

        return call

    def get_paginator(self, name: str) -> Any:
        return type("Paginator", (), {"paginate": getattr(self, name)})


def refusing_table(error: Exception) -> DynamoTable:
    elapsed = iter(range(10_000))
    retries = Retries(lambda _: None, lambda: 1.0, lambda: float(next(elapsed)))
    return DynamoTable(
        cast("Any", Refusing(error)), {LIVE: "live", HISTORY: "old"}, retries=retries
    )


def refusing_queues(error: Exception) -> SqsQueues:
    return SqsQueues(cast("Any", Refusing(error)), "headrace-test-", sleep=lambda _: None)


def refusing_firings(error: Exception) -> EventBridgeFirings:
    return EventBridgeFirings(
        EventBridgeSchedules(cast("Any", Refusing(error)), "headrace-test", ROLE, "headrace-test-")
    )


@pytest.fixture
def served(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> Callable[[Ports], None]:
    """Return what puts other ports in place."""
    return lambda other: monkeypatch.setattr(wiring, "ports", lambda: other)


def items(ports: Ports) -> list[Item]:
    return list(ports.table.scan(0, 1).items)


DOORS = {
    "zenbpm": ("/v1/process-instances", {"bpmnProcessId": "p"}),
    "priostack": ("/api/v1/process-instances", {"bpmnProcessId": "p"}),
    "scheduler": ("/scheduler/v1/jobs", JOB),
}


def call(client: Client, dialect: str) -> Answer:
    path, body = DOORS[dialect]
    return client.post(path, cast("Any", body))


def is_told_to_come_again(answer: Answer, dialect: str) -> bool:
    """Say whether an answer is a 503 that says when to repeat, in the shape of the dialect."""
    told = answer.json
    shape = ["code", "message"] if dialect == "zenbpm" else ["error"]
    words = told["message"] if dialect == "zenbpm" else told["error"]
    return (
        (503, "1", shape) == (answer.status, answer.headers.get("Retry-After"), sorted(told))
        and told.get("code", "CLUSTER_ERROR") == "CLUSTER_ERROR"
        and "repeat the request" in words
    )


TABLE_ERRORS = [
    refusal("ProvisionedThroughputExceededException"),
    refusal("ThrottlingException"),
    refusal("RequestLimitExceeded"),
    refusal("InternalServerError", 500),
    EndpointConnectionError(endpoint_url=ENDPOINT),
    ConnectTimeoutError(endpoint_url=ENDPOINT),
    ReadTimeoutError(endpoint_url=ENDPOINT),
]
QUEUE_ERRORS = [
    refusal("RequestThrottled", 403),
    refusal("AWS.SimpleQueueService.RequestThrottled", 403),
    refusal("KmsThrottled"),
    refusal("SlowDown", 503),
    refusal("TooManyRequestsException", 429),
    refusal("InternalFailure", 500),
    ConnectTimeoutError(endpoint_url=ENDPOINT),
    ReadTimeoutError(endpoint_url=ENDPOINT),
    ConnectionClosedError(endpoint_url=ENDPOINT),
]


@pytest.mark.parametrize("dialect", DOORS)
@pytest.mark.parametrize("error", TABLE_ERRORS, ids=str)
def test_reads_that_dynamodb_takes_no_more_are_503_in_each_dialect(
    client: Client, ports: Ports, served: Callable[[Ports], None], dialect: str, error: Exception
) -> None:
    served(replace(ports, table=refusing_table(error)))
    paths = {
        "zenbpm": "/v1/process-instances/5",
        "priostack": "/api/v1/process-instances/5",
        "scheduler": "/scheduler/v1/jobs/5",
    }

    assert is_told_to_come_again(client.get(paths[dialect]), dialect)


@pytest.mark.parametrize("dialect", ["zenbpm", "priostack"])
@pytest.mark.parametrize("error", QUEUE_ERRORS, ids=str)
def test_a_start_whose_promise_sqs_does_not_take_is_503_and_starts_nothing(
    client: Client, ports: Ports, served: Callable[[Ports], None], dialect: str, error: Exception
) -> None:
    deploy_in(client, dialect)
    before = items(ports)
    served(replace(ports, queues=refusing_queues(error)))

    answer = call(client, dialect)

    assert is_told_to_come_again(answer, dialect)
    assert roots(before) == roots(items(ports))
    served(ports)
    assert 201 == call(client, dialect).status  # repeating it is right


@pytest.mark.parametrize("error", QUEUE_ERRORS, ids=str)
def test_a_scheduled_job_whose_schedule_is_not_taken_is_503_and_is_not_there(
    client: Client, ports: Ports, served: Callable[[Ports], None], error: Exception
) -> None:
    before = items(ports)
    served(replace(ports, firings=refusing_firings(error)))

    assert is_told_to_come_again(call(client, "scheduler"), "scheduler")
    assert before == items(ports)


def test_an_activation_that_sqs_does_not_take_is_503(
    client: Client, ports: Ports, served: Callable[[Ports], None]
) -> None:
    create(client, one_task())
    served(replace(ports, queues=refusing_queues(refusal("RequestThrottled"))))

    here = client.post("/v1/jobs/activate", {"type": "work", "maxJobs": 1})
    there = client.get("/api/v1/jobs/activate?type=work")

    assert is_told_to_come_again(here, "zenbpm")
    assert is_told_to_come_again(there, "priostack")


def test_entries_that_sqs_keeps_refusing_by_itself_are_503(
    client: Client, ports: Ports, served: Callable[[Ports], None]
) -> None:
    deploy_in(client, "zenbpm")
    failed = {"Id": "0", "SenderFault": True, "Code": "RequestThrottled", "Message": "slower"}

    class Partly:
        def get_queue_url(self, **asked: Any) -> Any:
            return {"QueueUrl": "url"}

        def send_message_batch(self, **asked: Any) -> Any:
            return {"Failed": [failed]}

    queues = SqsQueues(cast("Any", Partly()), "headrace-test-", sleep=lambda _: None)
    served(replace(ports, queues=queues))

    assert 503 == call(client, "zenbpm").status


# --- what may have been done is not called refused -----------------------------------------------


class Lossy(MemoryTable):
    """A table whose next transaction takes effect, or not, and ends as DynamoDB's would."""

    def __init__(self, inner: MemoryTable, transacted: DynamoTable) -> None:
        self.__dict__ = inner.__dict__
        self.transacted = transacted

    def transact(self, writes: Any, token: str) -> Written | Refused:
        return self.transacted.transact(writes, token)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ReadTimeoutError(endpoint_url=ENDPOINT), 500),
        (refusal("InternalServerError", 500), 500),
        (refusal("TransactionInProgressException"), 500),
        (refusal("ThrottlingException"), 503),
        (EndpointConnectionError(endpoint_url=ENDPOINT), 503),
        (
            throttled := refusal(
                "TransactionCanceledException",
                CancellationReasons=[{"Code": "None"}, {"Code": "ThrottlingError"}],
            ),
            503,
        ),
        (
            refusal(
                "TransactionCanceledException",
                CancellationReasons=[{"Code": "ProvisionedThroughputExceeded"}, {"Code": "None"}],
            ),
            503,
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("dialect", ["zenbpm", "priostack"])
def test_only_a_commit_that_was_certainly_not_made_is_503(
    client: Client,
    ports: Ports,
    served: Callable[[Ports], None],
    dialect: str,
    error: Exception,
    status: int,
) -> None:
    deploy_in(client, dialect)
    assert isinstance(ports.table, MemoryTable)
    served(replace(ports, table=Lossy(ports.table, refusing_table(error))))

    answer = call(client, dialect)

    assert (status, status == 503) == (answer.status, "Retry-After" in answer.headers)


def test_jobs_that_were_claimed_are_answered_though_sqs_takes_no_more(
    client: Client, ports: Ports, served: Callable[[Ports], None]
) -> None:
    create(client, one_task())

    class Half:
        """Queues that give bells and then take nothing any more but the bells of locks."""

        def __getattr__(self, name: str) -> Any:
            if name in ("delete", "show_again"):
                return getattr(refusing_queues(refusal("RequestThrottled")), name)
            return getattr(ports.queues, name)

    served(replace(ports, queues=cast("Any", Half())))

    assert 1 == len(activate(client))


def test_a_scheduled_job_is_gone_though_its_schedule_could_not_be_removed(
    client: Client, ports: Ports, served: Callable[[Ports], None]
) -> None:
    made = call(client, "scheduler").json
    served(replace(ports, firings=refusing_firings(refusal("ThrottlingException"))))

    assert 204 == client.delete(f"/scheduler/v1/jobs/{made['id']}").status
    assert 404 == client.get(f"/scheduler/v1/jobs/{made['id']}").status


def test_a_throttle_is_a_line_of_the_log_and_no_fault(
    client: Client,
    ports: Ports,
    served: Callable[[Ports], None],
    lines: list[dict[str, Any]],
) -> None:
    served(replace(ports, table=refusing_table(refusal("ThrottlingException"))))

    client.get("/v1/process-instances/5")

    assert ["unavailable", "invocation"] == [line["message"] for line in lines]
    assert "DynamoDB" in lines[0]["reason"]


def deploy_in(client: Client, dialect: str) -> None:
    if dialect == "zenbpm":
        deploy(client, one_task())
    else:
        xml = {"content-type": "application/xml"}
        path = "/api/v1/process-definitions"
        assert 201 == client.request("POST", path, one_task(), xml).status


def roots(found: list[Item]) -> list[object]:
    """Return the places of all that belongs to instances."""
    return [(each["pk"], each["sk"]) for each in found if str(each["pk"]).startswith("I#")]
