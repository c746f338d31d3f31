"""What each unit costs, in US dollars, on demand in us-east-1; free tiers are left out.

Each price names the page it stands on. AWS draws most of its price tables by script, so the stored
copies of those pages often lack the figures; then the second source is where the figure was read.
All were looked up in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from bench.costs.units import Unit, Use

MILLION = 1_000_000
TB = 1_024  # GB


@dataclass(frozen=True, slots=True)
class Price:
    """What so many of a unit cost: by tiers, each up to an amount in a month.

    Shapes: `tiers` are pairs of an upper end and dollars for `per` units; `page` is the seller's
        own; `read_at` where the figure was read, "" where that page tells it itself.
    """

    tiers: tuple[tuple[float, float], ...]
    per: int
    page: str
    read_at: str = ""

    def of(self, amount: float) -> float:
        """Return the dollars of an amount in one month."""
        dollars, below = 0.0, 0.0
        for end, price in self.tiers:
            dollars += max(0.0, min(amount, end) - below) * price / self.per
            below = end
        return dollars


def _flat(price: float, per: int, page: str, read_at: str = "") -> Price:
    return Price(((inf, price),), per, page, read_at)


_API = "aws.amazon.com/api-gateway/pricing"
_API_READ = (
    "docs.aws.amazon.com/whitepapers/latest/best-practices-api-gateway-private-apis-integration"
    "/cost-optimization.html"
)
_LAMBDA = "aws.amazon.com/lambda/pricing"
_LAMBDA_READ = "cloudchipr.com/blog/aws-lambda-pricing (2024)"
_DYNAMODB = "aws.amazon.com/dynamodb/pricing/on-demand"
_DYNAMODB_READ = "airbyte.com/data-engineering-resources/dynamodb-pricing (July 2025)"
_DYNAMODB_KEPT = "a gist of prices by unit of 2020 (0.25 and 0.20), unchanged as far as known"
_SQS_READ = "cloudburn.io/blog/amazon-sqs-pricing (March 2026)"
_SCHEDULER_READ = "cloudburn.io/blog/amazon-eventbridge-pricing (March 2026)"
_WATCH = "aws.amazon.com/cloudwatch/pricing"
_WATCH_READ = "signoz.io/guides/cloudwatch-pricing (February 2026)"
_WATCH_UNREAD = "not found in a stored page: known from use"
_OUT_READ = "apigatewaycost.com/aws"
_DURABLE_READ = "a stored comparison of durable execution that cites the page (2026)"
_TEMPORAL = "docs.temporal.io/cloud/pricing"

PRICES: Mapping[Unit, Price] = {
    Unit.REST_REQUEST: Price(
        ((333 * MILLION, 3.50), (1_000 * MILLION, 2.80), (20_000 * MILLION, 2.38), (inf, 1.51)),
        MILLION,
        _API,
        _API_READ,
    ),
    Unit.HTTP_REQUEST: Price(((300 * MILLION, 1.00), (inf, 0.90)), MILLION, _API, _API_READ),
    Unit.LAMBDA_REQUEST: _flat(0.20, MILLION, _LAMBDA, _LAMBDA_READ),
    Unit.LAMBDA_GB_S: Price(
        ((6e9, 0.0000166667), (15e9, 0.000015), (inf, 0.0000133334)), 1, _LAMBDA, _LAMBDA_READ
    ),
    Unit.WRITE_UNIT: _flat(0.625, MILLION, _DYNAMODB, _DYNAMODB_READ),
    Unit.READ_UNIT: _flat(0.125, MILLION, _DYNAMODB, _DYNAMODB_READ),
    Unit.TABLE_GB: _flat(0.25, 1, _DYNAMODB, _DYNAMODB_KEPT),
    Unit.BACKUP_GB: _flat(0.20, 1, _DYNAMODB, _DYNAMODB_KEPT),
    Unit.SQS_REQUEST: Price(
        ((100_000 * MILLION, 0.40), (200_000 * MILLION, 0.30), (inf, 0.24)),
        MILLION,
        "aws.amazon.com/sqs/pricing",
        _SQS_READ,
    ),
    Unit.SCHEDULE: _flat(1.00, MILLION, "aws.amazon.com/eventbridge/pricing", _SCHEDULER_READ),
    Unit.LOG_GB: Price(
        ((10 * TB, 0.50), (30 * TB, 0.25), (50 * TB, 0.10), (inf, 0.05)),
        1,
        _WATCH,
        "the first tier: cloudonaut.io; the others: " + _WATCH_UNREAD,
    ),
    Unit.LOG_STORED_GB: _flat(0.03, 1, _WATCH, _WATCH_UNREAD),
    Unit.METRIC: Price(
        ((10_000, 0.30), (250_000, 0.10), (1_000_000, 0.05), (inf, 0.02)),
        1,
        _WATCH,
        _WATCH_READ + " for the first tier",
    ),
    Unit.ALARM: _flat(0.10, 1, _WATCH, _WATCH_UNREAD),
    Unit.DASHBOARD: _flat(
        3.00, 1, _WATCH, "factualminds.com/blog/amazon-cloudwatch-pricing (2026)"
    ),
    Unit.OUT_GB: Price(
        ((10 * TB, 0.09), (50 * TB, 0.085), (150 * TB, 0.07), (inf, 0.05)),
        1,
        "aws.amazon.com/ec2/pricing/on-demand",
        _OUT_READ + " for the first tier",
    ),
    Unit.TRANSITION: _flat(0.025, 1_000, "aws.amazon.com/step-functions/pricing"),
    Unit.DURABLE_OPERATION: _flat(8.00, MILLION, _LAMBDA, _DURABLE_READ),
    Unit.DURABLE_GB: _flat(0.25, 1, _LAMBDA, _DURABLE_READ),
    Unit.DURABLE_KEPT_GB: _flat(0.15, 1, _LAMBDA, _DURABLE_READ),
    Unit.ACTION: _flat(50.0, MILLION, _TEMPORAL),
    Unit.BUSINESS_ACTION: Price(
        (
            (5 * MILLION, 50.0),
            (10 * MILLION, 45.0),
            (20 * MILLION, 40.0),
            (50 * MILLION, 35.0),
            (100 * MILLION, 30.0),
            (inf, 25.0),  # beyond 200 million by agreement
        ),
        MILLION,
        _TEMPORAL,
    ),
    Unit.ACTIVE_GB_H: _flat(0.042, 1, _TEMPORAL),
    Unit.RETAINED_GB_H: _flat(0.00105, 1, _TEMPORAL),
}


def dollars(use: Use) -> dict[Unit, float]:
    """Return what each unit of a month's use costs."""
    return {unit: PRICES[unit].of(amount) for unit, amount in use.items()}
