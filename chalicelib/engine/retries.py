"""Retries and backoff of a job: what its definition says, and what an operator may set.

Source: contracts/zenbpm.md section 2 F (R56 to R66), J (R109 to R116) and L (R125 to R133).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib.bpmn.durations import InvalidTime, parse_retry_policy
from chalicelib.engine.expressions import Compute, extract, show
from chalicelib.engine.limits import Limits
from chalicelib.engine.profiles import RETRIES_MAX, Rules
from chalicelib.engine.state import Job, RetryPolicy
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject, JsonValue, is_integer

if TYPE_CHECKING:
    from chalicelib.engine.draft import Draft
    from chalicelib.engine.plans import Node


def initial(draft: Draft, node: Node, seen: JsonObject) -> int:
    """Return the retries a job of an element starts with. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    assert node.job is not None
    return counted(draft, node.job.retries, seen, f"retries of {node.id}")


def counted(draft: Draft, compute: Compute | None, seen: JsonObject, where: str) -> int:
    """Return the retries that a definition names, or the profile's. Raises: Stuck."""
    if compute is None:
        return min(default(draft.rules, draft.limits), most(draft.rules, draft.limits))
    count = _count(extract(compute, seen, draft.moment, where), where)
    return min(count, most(draft.rules, draft.limits))


def default(rules: Rules, limits: Limits) -> int:
    """Return the retries of a job whose definition is silent (R57)."""
    return limits.default_retries if rules.default_retries is None else rules.default_retries


def most(rules: Rules, limits: Limits) -> int:
    """Return the most retries a job may have (R59, R69)."""
    return limits.max_retries if rules.caps_retries else RETRIES_MAX


def policy(draft: Draft, node: Node, seen: JsonObject) -> RetryPolicy | None:
    """Return the backoff that is frozen into a job, None if its definition is silent.

    Shapes: a text, a comma list, a FEEL duration (which comes as text), or a list of them.
    Raises: Stuck(EXTRACT_VALUE_ERROR).
    """
    plan, where = node.job, f"retryBackoff of {node.id}"
    assert plan is not None
    if plan.retry_backoff is None:
        return None
    value = extract(plan.retry_backoff, seen, draft.moment, where)
    entries = value if isinstance(value, list) else [value]
    texts = [entry for entry in entries if isinstance(entry, str)]
    if len(texts) < len(entries) or not texts:
        message = f"{where}: expected durations, found {show(value)}"
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, message)
    try:
        backoffs = [backoff for text in texts for backoff in parse_retry_policy(text)]
    except InvalidTime as error:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"{where}: {error}") from error
    return RetryPolicy(tuple(min(backoff, draft.limits.max_backoff) for backoff in backoffs))


def _count(value: JsonValue, where: str) -> int:
    """Read a whole number that is not negative, also as text (R61)."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = Decimal(value.strip())
    if isinstance(value, Decimal) and is_integer(value) and value >= 0:
        return int(value)
    message = f"{where}: expected a whole number that is not negative, found {show(value)}"
    raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, message)


# --- an operator's ---------------------------------------------------------------------------


def check(job: str, retries: int, retry_at: datetime | None, now: datetime, limits: Limits) -> None:
    """Let retries that an operator sets pass. Raises: Rejected(INVALID_ARGUMENT) (R128).

    Shapes: `job` says whose they are, such as "job 42".
    """
    if not 1 <= retries <= limits.max_retries:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"retries of {job} must be between 1 and {limits.max_retries} (jobs.maxRetries), "
            f"got {retries}",
        )
    if retry_at is not None and retry_at > now + limits.max_backoff:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"retryAt of {job} must not be later than {_span(limits.max_backoff)} from now "
            f"(jobs.maxRetryBackoff), got {retry_at.isoformat()}",
        )


def _span(span: timedelta) -> str:
    """Return a duration as ZenBPM's messages word it, such as `24h0m0s`."""
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    return f"{minutes // 60}h{minutes % 60}m{seconds}s"


def set_by_operator(job: Job, retries: int, retry_at: datetime | None, now: datetime) -> Job:
    """Return the job with retries that an operator set, and the bell that follows (R125 to R131).

    Shapes: a `retry_at` that is past is none; a lock stands; attempts are kept.
    """
    job = job._replace(
        retries=retries,
        retry_at=ahead(retry_at, now),
        retries_set_by_operator=True,
        ring=job.ring + 1,
    )
    return job._replace(ring_at=job.out_at(now))


def ahead(moment: datetime | None, now: datetime) -> datetime | None:
    """Return a moment if it is still to come."""
    return moment if moment is not None and moment > now else None
