"""What is paid for: the units of all prices, and how much of them something uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

GB = 2**30  # bytes, of what AWS bills as a GB
HOURS = 730  # of a month, as AWS's own examples count
MONTH_S = HOURS * 3_600


class Unit(StrEnum):
    """One thing that a price is for."""

    REST_REQUEST = "API Gateway, REST API: request"
    HTTP_REQUEST = "API Gateway, HTTP API: request"
    LAMBDA_REQUEST = "Lambda: request"
    LAMBDA_GB_S = "Lambda: GB-second"
    WRITE_UNIT = "DynamoDB: write request unit"
    READ_UNIT = "DynamoDB: read request unit"
    TABLE_GB = "DynamoDB: GB-month of tables and indexes"
    BACKUP_GB = "DynamoDB: GB-month of point-in-time recovery"
    SQS_REQUEST = "SQS: request"
    SCHEDULE = "EventBridge Scheduler: invocation"
    LOG_GB = "CloudWatch: GB of logs taken in"
    LOG_STORED_GB = "CloudWatch: GB-month of logs kept"
    METRIC = "CloudWatch: metric and month"
    ALARM = "CloudWatch: alarm and month"
    DASHBOARD = "CloudWatch: dashboard and month"
    OUT_GB = "Data transfer: GB out to the internet"
    TRANSITION = "Step Functions Standard: state transition"
    DURABLE_OPERATION = "Lambda durable functions: durable operation"
    DURABLE_GB = "Lambda durable functions: GB written"
    DURABLE_KEPT_GB = "Lambda durable functions: GB-month kept"
    ACTION = "Temporal Cloud, Developer: action"
    BUSINESS_ACTION = "Temporal Cloud, Business: action"
    ACTIVE_GB_H = "Temporal Cloud: GB-hour of active storage"
    RETAINED_GB_H = "Temporal Cloud: GB-hour of retained storage"


Use = Mapping[Unit, float]  # how much of each; what is not named is not used


def total(uses: Iterable[Use]) -> dict[Unit, float]:
    """Return the sum of what several things use."""
    summed: dict[Unit, float] = {}
    for use in uses:
        for unit, amount in use.items():
            summed[unit] = summed.get(unit, 0) + amount
    return summed


def times(use: Use, factor: float) -> dict[Unit, float]:
    """Return what that many of something use."""
    return {unit: amount * factor for unit, amount in use.items()}
