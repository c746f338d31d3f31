"""What the same instances cost elsewhere: three tasks in a row, by each peer's own units.

Only what the peer itself is paid for is in it. Workers and their compute are left out on all sides;
what our engine computes is in ours. Each peer is taken in the shape that is cheapest for it.
"""

from __future__ import annotations

from bench.costs.cycles import TYPES, Counted
from bench.costs.prices import dollars
from bench.costs.units import GB, HOURS, Unit, Use
from bench.costs.year import DAYS, MONTHS, Size

ADDED_EVENT_BYTES = 400  # of each event of Temporal's history, beside payloads: an assumption
EVENTS = 3 + 6 * len(TYPES) + 2  # started and first task; six per activity; the last task, the end
KEPT_DAYS = 30  # of what has ended, where the size says nothing
OPEN_S = 3_600  # that an instance is open on average: an assumption
PLAN_SHARE = 0.10  # of the use, which either plan of Temporal Cloud adds
BUSINESS_MIN = 500.0  # a month
BUSINESS_INCLUDED = 2_500_000  # actions of a month

STEP_FUNCTIONS, DURABLE, TEMPORAL = "Step Functions Standard", "durable functions", "Temporal Cloud"


def step_functions(size: Size, job: Counted) -> list[Use]:
    """A transition into each task, and one out of the last; nothing for storage."""
    return [{Unit.TRANSITION: _instances(size) * (len(TYPES) + 1)}] * MONTHS


def durable_functions(size: Size, job: Counted) -> list[Use]:
    """An operation for the start and for each step; what they write is kept for a while."""
    instances = _instances(size)
    written_gb = instances * job.body_bytes / GB
    days = min(size.kept_days or KEPT_DAYS, 90)  # the longest retention
    return [
        {
            Unit.DURABLE_OPERATION: instances * (len(TYPES) + 1),
            Unit.DURABLE_GB: written_gb,
            Unit.DURABLE_KEPT_GB: written_gb * min(number + 0.5, days / DAYS),
        }
        for number in range(MONTHS)
    ]


def temporal(size: Size, job: Counted) -> list[Use]:
    """An action for the start and for each activity; the history is stored, then retained."""
    instances = _instances(size)
    days = min(size.kept_days or KEPT_DAYS, 90)  # the longest retention
    history_gb = instances * (EVENTS * ADDED_EVENT_BYTES + job.body_bytes) / GB
    return [
        {
            Unit.ACTION: instances * (len(TYPES) + 1),
            Unit.ACTIVE_GB_H: history_gb * OPEN_S / 3_600,
            Unit.RETAINED_GB_H: history_gb * HOURS * min(number + 0.5, days / DAYS),
        }
        for number in range(MONTHS)
    ]


def cost(peer: str, size: Size, job: Counted) -> float:
    """Return the dollars of a year."""
    if peer == STEP_FUNCTIONS:
        return sum(sum(dollars(month).values()) for month in step_functions(size, job))
    if peer == DURABLE:
        return sum(sum(dollars(month).values()) for month in durable_functions(size, job))
    return sum(_temporal_month(month) for month in temporal(size, job))


def _temporal_month(month: Use) -> float:
    """Return what the cheaper of the two plans asks for that have a price list."""
    developer = sum(dollars(month).values()) * (1 + PLAN_SHARE)
    actions = max(0.0, month[Unit.ACTION] - BUSINESS_INCLUDED)
    business: dict[Unit, float] = {**month, Unit.ACTION: 0, Unit.BUSINESS_ACTION: actions}
    used = sum(dollars(business).values())
    return min(developer, used + max(BUSINESS_MIN, used * PLAN_SHARE))


def _instances(size: Size) -> float:
    return size.jobs / len(TYPES)
