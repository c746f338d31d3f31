"""How long a promise may wait for its commit, and so how long an early message is kept.

A message is promised before the transaction that makes it true. Whoever receives it in between
finds nothing yet and must neither act on it nor drop it. HORIZON is longer than any commit can
come after its promise, so what is still early then was never committed. Design section 4.
"""

from __future__ import annotations

from datetime import datetime, timedelta

HORIZON = timedelta(seconds=120)  # design section 4; the early are kept this long
COMMIT_WINDOW = timedelta(seconds=20)  # a commit later than this promises again first
FUNCTION_TIMEOUT = timedelta(seconds=30)  # of every Lambda function that commits
CONNECT_TIMEOUT = timedelta(seconds=2)  # of the DynamoDB client
READ_TIMEOUT = timedelta(seconds=5)  # of the DynamoDB client
ATTEMPTS_MAX = 1  # of the DynamoDB client: whoever repeats must know how the one before ended
DEADLINE = timedelta(seconds=10)  # until then a write that conflicts or is throttled is repeated
CLOCK_SKEW_MAX = timedelta(seconds=2)  # between the clocks of two functions

LOOKS_AGAIN_S = (0.020, 0.040, 0.080)  # waits before an early message is looked at again
EARLY_DELAY_S = 1  # then it is put back for a second
YOUNG = timedelta(seconds=10)  # an early message is: most commits come within milliseconds
OLD_DELAY_S = 15  # of an early one that is not: whoever promised it has probably died or lost


def latest_commit() -> timedelta:
    """Return the longest time by which any commit may come after its promise."""
    last_write = DEADLINE + ATTEMPTS_MAX * (CONNECT_TIMEOUT + READ_TIMEOUT)
    return COMMIT_WINDOW + FUNCTION_TIMEOUT + last_write + CLOCK_SKEW_MAX


def check_horizon(horizon: timedelta = HORIZON) -> None:
    """Refuse to start with times under which an acknowledged write could lose its message."""
    if latest_commit() >= horizon:
        raise RuntimeError(
            f"expected every commit within {horizon} of its promise, found that it may take "
            f"{latest_commit()}: raise HORIZON or lower the timeouts"
        )


def is_over(first_sent: datetime, now: datetime) -> bool:
    """Say whether a message is so old that what it was promised for can no more be committed."""
    return now - first_sent > HORIZON


def put_back_after_s(first_sent: datetime, now: datetime) -> int:
    """Return for how many seconds an early message is put back where looking is not cheap."""
    return EARLY_DELAY_S if now - first_sent < YOUNG else OLD_DELAY_S
