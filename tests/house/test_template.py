"""Code and template say the same of tables, queues and times."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from app import app
from chalicelib.api.operation import operation_of
from chalicelib.delivery import horizon, runs, sqs
from chalicelib.ports import HISTORY, LIVE
from chalicelib.routing.definition import CALL_TIMEOUT
from chalicelib.scheduler.definition import TIMEOUT_MAX_MS
from chalicelib.store.table import TABLES
from infra import hand_out, names, package, policies

RESOURCES = package.build_template()["Resources"]
TABLE_NAMES = {LIVE: "LiveTable", HISTORY: "HistoryTable"}


def keys(schema: list[dict[str, str]]) -> list[str]:
    """Return partition and sort key of a key schema."""
    return [part["AttributeName"] for part in sorted(schema, key=lambda part: part["KeyType"])]


def actions(function: str) -> set[str]:
    """Return all that a function may do."""
    return {a for statement in policies.statements(function) for a in statement["Action"]}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_keys_that_the_store_uses(name: str) -> None:
    properties, schema = RESOURCES[TABLE_NAMES[name]]["Properties"], TABLES[name]
    assert [schema.pk, schema.sk] == keys(properties["KeySchema"])


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_indexes_that_the_store_queries(name: str) -> None:
    indexes: list[dict[str, Any]] = RESOURCES[TABLE_NAMES[name]]["Properties"].get(
        "GlobalSecondaryIndexes", []
    )

    made = {index["IndexName"]: keys(index["KeySchema"]) for index in indexes}
    assert {index.name: [index.pk, index.sk] for index in TABLES[name].indexes} == made
    assert {"KEYS_ONLY"} >= {index["Projection"]["ProjectionType"] for index in indexes}


@pytest.mark.parametrize("function", names.FUNCTION_NAMES)
def test_a_function_that_sends_may_be_part_of_a_loop(function: str) -> None:
    sends = "sqs:SendMessage" in actions(function)
    assert ("Allow" if sends else None) == RESOURCES[function]["Properties"].get("RecursiveLoop")


@pytest.mark.parametrize("function", names.FUNCTION_NAMES)
def test_a_function_ends_before_the_horizon_counts_on_it(function: str) -> None:
    timeout = timedelta(seconds=RESOURCES[function]["Properties"]["Timeout"])
    # An attempt at a scheduled job takes its time between two commits, each promised anew.
    longest = runs.FUNCTION_TIMEOUT if function == names.RUNS else horizon.FUNCTION_TIMEOUT
    assert timeout <= longest


@pytest.mark.parametrize(
    ("queue", "longest"),
    [
        ("TimersQueue", horizon.FUNCTION_TIMEOUT),
        ("CommandsQueue", horizon.FUNCTION_TIMEOUT),
        ("RunsQueue", runs.FUNCTION_TIMEOUT),
        ("RoutingQueue", horizon.FUNCTION_TIMEOUT),
    ],
)
def test_a_message_comes_back_only_after_its_function_is_over(
    queue: str, longest: timedelta
) -> None:
    visibility = timedelta(seconds=RESOURCES[queue]["Properties"]["VisibilityTimeout"])
    assert visibility > longest


def test_an_attempt_that_comes_back_is_of_an_executor_that_is_dead() -> None:
    visibility = timedelta(seconds=RESOURCES["RunsQueue"]["Properties"]["VisibilityTimeout"])
    timeout = timedelta(seconds=RESOURCES[names.RUNS]["Properties"]["Timeout"])
    assert timeout < runs.DEAD_AFTER < visibility


def test_the_longest_attempt_ends_before_its_function() -> None:
    timeout = timedelta(seconds=RESOURCES[names.RUNS]["Properties"]["Timeout"])
    assert timedelta(milliseconds=TIMEOUT_MAX_MS) + horizon.FUNCTION_TIMEOUT <= timeout


def test_the_longest_call_of_a_routed_message_leaves_time_to_commit() -> None:
    timeout = timedelta(seconds=RESOURCES[names.ROUTING]["Properties"]["Timeout"])
    assert CALL_TIMEOUT + horizon.DEADLINE < timeout
    assert CALL_TIMEOUT < horizon.COMMIT_WINDOW


def test_queues_keep_messages_as_long_as_job_queues_made_at_run_time() -> None:
    kept = {RESOURCES[q]["Properties"]["MessageRetentionPeriod"] for q in ("TimersQueue",)}
    assert {sqs.RETENTION_S} == kept


def test_what_hands_jobs_out_is_served_by_the_function_that_does() -> None:
    by_id = {
        (method.lower(), path)
        for path, methods in app.routes.items()
        for method, entry in methods.items()
        if (operation := operation_of(entry.view_function)) is not None
        and operation.id in ("activateJobs", "claimJob")
    }

    assert by_id == set(hand_out.ROUTES)
