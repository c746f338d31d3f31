"""The table on the emulated AWS and on moto, with tables of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config
from moto import mock_aws

from chalicelib.ports import HISTORY, LIVE, Table
from chalicelib.store.dynamodb import DynamoTable
from chalicelib.store.table import TABLES, Schema

CONNECTIONS = 16  # as many as the threads of a race


def client(endpoint: str | None) -> Any:
    """Return a client of the emulated DynamoDB; without an endpoint of AWS's, which moto mocks."""
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=CONNECTIONS),
    )


def on_dynamodb(endpoint: str | None) -> Iterator[Table]:
    """Yield a table on tables of its own, which are deleted after it."""
    dynamodb = client(endpoint)
    stage = uuid4().hex[:8]
    names = {LIVE: f"headrace-{stage}", HISTORY: f"headrace-{stage}-history"}
    for table, name in names.items():
        dynamodb.create_table(TableName=name, **creation(TABLES[table]))
    yield DynamoTable(dynamodb, names)
    for name in names.values():
        dynamodb.delete_table(TableName=name)
    dynamodb.close()


def on_moto() -> Iterator[Table]:
    """Yield a table on moto, which is fit for requests of one thread and small tables."""
    with mock_aws():
        yield from on_dynamodb(None)


def creation(schema: Schema) -> Mapping[str, Any]:
    """Return what CreateTable needs to make a table of a schema."""
    request: dict[str, Any] = {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in schema.attributes
        ],
        "KeySchema": _keys(schema.pk, schema.sk),
    }
    if schema.indexes:
        request["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index.name,
                "KeySchema": _keys(index.pk, index.sk),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
            for index in schema.indexes
        ]
    return request


def _keys(pk: str, sk: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": pk, "KeyType": "HASH"},
        {"AttributeName": sk, "KeyType": "RANGE"},
    ]
