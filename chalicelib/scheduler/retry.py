"""The retry: how many attempts a row may have, and how long after a failure the next is due.

Unusable numbers count as unset: base 1000 ms, multiplier 2, maximum 300000 ms, 5 attempts.

Source: contracts/scheduled-jobs.md, Z36 to Z54.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from decimal import Context, Decimal, localcontext

BASE_DEFAULT_MS = 1_000
MULTIPLIER_DEFAULT = Decimal(2)
DELAY_MAX_DEFAULT_MS = 300_000
ATTEMPTS_DEFAULT = 5

# Enough digits that no delay of today's limits is off by a millisecond; without traps a power
# that is too large for a number is infinite, and the maximum is taken instead (Z44).
_EXACT = Context(prec=50, traps=[])


@dataclass(frozen=True, slots=True)
class Retry:
    """The settings as they were given. Units: milliseconds."""

    enabled: bool = False
    base_delay_ms: int = BASE_DEFAULT_MS
    multiplier: Decimal = MULTIPLIER_DEFAULT
    max_delay_ms: int = DELAY_MAX_DEFAULT_MS
    max_attempts: int = ATTEMPTS_DEFAULT


def budget(retry: Retry) -> int:
    """Return how many attempts a row that is inserted now may have (Z46 to Z48)."""
    if not retry.enabled:
        return 1
    return retry.max_attempts if retry.max_attempts > 0 else ATTEMPTS_DEFAULT


def delay_ms(retry: Retry, attempt: int) -> Decimal:
    """Return the exact delay after a failed attempt, counted from 1 (Z36 to Z44).

    Units: milliseconds, with a fraction where the multiplier has one.
    """
    base = retry.base_delay_ms if retry.base_delay_ms > 0 else BASE_DEFAULT_MS
    longest = retry.max_delay_ms if retry.max_delay_ms > 0 else DELAY_MAX_DEFAULT_MS
    is_usable = retry.multiplier.is_finite() and retry.multiplier > 1
    multiplier = retry.multiplier if is_usable else MULTIPLIER_DEFAULT
    with localcontext(_EXACT):
        return min(base * multiplier ** (attempt - 1), Decimal(longest))


def delay(retry: Retry, attempt: int) -> timedelta:
    """Return the delay after a failed attempt, rounded up to whole milliseconds."""
    return timedelta(milliseconds=math.ceil(delay_ms(retry, attempt)))


def longest_delay(retry: Retry) -> timedelta:
    """Return the longest delay that a row's budget leads to; none for one of a single attempt."""
    attempts = budget(retry)
    return delay(retry, attempts - 1) if attempts > 1 else timedelta()
