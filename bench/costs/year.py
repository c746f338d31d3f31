"""A year of use: what is counted of a job, by the jobs of each month, and what stands beside it.

Beside the jobs there is what is paid for whether anything happens or not (alarms, metrics, Lambda's
look into its queues), what workers use while they wait, what sweeps read, and what is
stored, which grows until the retention is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from bench.costs.account import ASSUMED
from bench.costs.cycles import TYPES, Counted, Worker, count_empty_poll, count_mix
from bench.costs.prices import dollars
from bench.costs.units import GB, HOURS, MONTH_S, Unit, Use, times, total
from chalicelib.store.sweeping import PARTS
from infra import template, watching

MONTHS = 12
DAYS = HOURS / 24  # of a month
POLL_S = 20.0  # of one long poll (SQS's longest)
POLLERS = 5  # of a queue that Lambda watches while nothing comes (Lambda Developer Guide, SQS)
SCANNED_MB_S = 20  # of one segment of a sweep, as its module says
BUSY_BATCH = 10  # messages that are received together where there always are more


@dataclass(frozen=True)
class Size:
    """How much Headrace is used, and how.

    Shapes: `batch` is how many jobs come together; `waiting` how many HTTP workers there are that
        wait for jobs all day; `kept_days` how long an instance stays after its end, 0 for ever.
    """

    name: str
    jobs: int  # a month
    worker: Worker
    batch: int
    waiting: int = 0
    kept_days: int = 0


@dataclass(frozen=True)
class Month:
    """What one month uses and costs, without the front door."""

    requests: float
    use: Use


@cache
def counted(worker: Worker, batch: int, kept_days: int) -> Counted:
    """Return what one job uses; each way of working is counted once."""
    return count_mix(worker, batch, kept_days * 86_400)


@cache
def empty_poll() -> Mapping[Unit, float]:
    """Return what one poll uses that nothing comes of."""
    return count_empty_poll()


def months(size: Size, job: Counted | None = None) -> list[Month]:
    """Return a year of use, month by month."""
    job = job or counted(size.worker, size.batch, size.kept_days)
    return [_month(size, job, number) for number in range(MONTHS)]


def _month(size: Size, job: Counted, number: int) -> Month:
    stored_instances = _stored_months(size, number) * size.jobs / len(TYPES)
    scanned = stored_instances * job.stored.scanned
    parts = [
        times(job.use, size.jobs),
        _waiting(size, job),
        _kept(stored_instances, job),
        _swept(scanned),
        _standing(size, job),
    ]
    use = total(parts)
    use[Unit.LOG_STORED_GB] = use[Unit.LOG_GB] * ASSUMED.log_compression * template.LOG_DAYS / DAYS
    requests = use.pop(Unit.HTTP_REQUEST)
    return Month(requests, use)


def _stored_months(size: Size, number: int) -> float:
    """Return how many months' instances are there on average in a month, the first being 0."""
    grown = number + 0.5
    return min(grown, size.kept_days / DAYS) if size.kept_days else grown


def _waiting(size: Size, job: Counted) -> Use:
    """Return what HTTP workers use while they wait: a poll holds its function all the time.

    What the polls use by themselves that jobs came of is counted with these.
    """
    if not size.waiting:
        return {}
    polls = size.waiting * MONTH_S / POLL_S
    came = min(polls, size.jobs / size.batch)
    held_s = size.waiting * MONTH_S * ASSUMED.memory_gb
    return {**times(empty_poll(), polls - came), Unit.LAMBDA_GB_S: held_s}


def _kept(instances: float, job: Counted) -> Use:
    stored_gb = instances * (job.stored.live + job.stored.history) / GB
    return {Unit.TABLE_GB: stored_gb, Unit.BACKUP_GB: stored_gb}


def _swept(scanned_bytes: float) -> Use:
    """Return what sweeps use: daily the whole live table is read, hourly what is open.

    Of these instances hardly any is open for longer than an hour, but their parts are looked for.
    """
    seconds = scanned_bytes / 2**20 / SCANNED_MB_S
    parts = sum(PARTS.values())
    return {
        Unit.READ_UNIT: DAYS * scanned_bytes / 4_096 + HOURS * parts,
        Unit.LAMBDA_GB_S: DAYS * seconds * ASSUMED.memory_gb,
        Unit.LAMBDA_REQUEST: HOURS * (1 + parts),
        Unit.SQS_REQUEST: HOURS * (1 + 2 * parts),
    }


def _standing(size: Size, job: Counted) -> Use:
    """Return what is paid for although nothing happens."""
    made = [each["Type"] for each in (*watching.alarms().values(), *watching.dashboard().values())]
    watched = len(template.BATCH) + (len(TYPES) if size.worker is Worker.LAMBDA else 0)
    return {
        Unit.SQS_REQUEST: watched * POLLERS * MONTH_S / POLL_S,
        Unit.ALARM: made.count("AWS::CloudWatch::Alarm"),
        Unit.DASHBOARD: made.count("AWS::CloudWatch::Dashboard"),
        Unit.METRIC: len(job.series) + len(watching.FILTERS),
    }


def front_door(month: Month, door: Unit) -> Use:
    """Return a month's use with API Gateway's REST API or HTTP API in front."""
    return {**month.use, door: month.requests}


def cost(size: Size, door: Unit, job: Counted | None = None) -> dict[Unit, float]:
    """Return what a year costs, by unit."""
    return total(dollars(front_door(month, door)) for month in months(size, job))


def per_million(size: Size, door: Unit, job: Counted | None = None) -> float:
    """Return the dollars of a million jobs, of a year's costs."""
    return sum(cost(size, door, job).values()) / (size.jobs * MONTHS) * 1_000_000


def marginal(job: Counted, door: Unit) -> dict[Unit, float]:
    """Return the dollars of a million jobs more: what is counted of them, and nothing beside."""
    use = times(job.use, 1_000_000)
    use[door] = use.pop(Unit.HTTP_REQUEST)
    return dollars(use)


SIZES = (
    Size("10 thousand jobs a month", 10_000, Worker.LAMBDA, batch=1),
    Size("1 million jobs a month", 1_000_000, Worker.LAMBDA, batch=1, kept_days=30),
    Size("100 million jobs a month", 100_000_000, Worker.LAMBDA, BUSY_BATCH, kept_days=30),
)
# The same with workers that poll over HTTP: one for each type that waits for single jobs, or so
# many, where jobs never run out, that none of them waits.
POLLED = tuple(
    replace(size, worker=Worker.HTTP, waiting=0 if size.batch > 1 else len(TYPES)) for size in SIZES
)
