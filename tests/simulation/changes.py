"""What may become of a job's item in one write; each rule is one function of before and after."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.ports import Item
from chalicelib.profile import Profile

SKEW_TOLERATED_MS = 1_000  # a clock that is that fast sees a lock end that much early
ENDED = ("completed", "terminated")
LOCK_ATTRIBUTES = frozenset({"owner", "lock_until", "lock_duration", "claim_id", "ring", "ring_at"})
FOLLOWERS = {
    "active": {"active", "completed", "failed", "terminated"},
    "failed": {"failed", "active", "terminated"},
}


def number(item: Item, name: str, default: int = 0) -> int:
    """Return an attribute that is a number."""
    value = item.get(name, default)
    if not isinstance(value, int):
        raise TypeError(f"expected {name} to be a number, found {value!r}")
    return value


def wrong_changes(before: Item, after: Item, now_ms: int) -> Iterator[str]:
    """Yield what is wrong with a change of a job's item at a moment of the true time."""
    yield from _wrong_state(before, after)
    yield from _wrong_hands(before, after, now_ms)
    yield from _wrong_series(before, after)
    if number(after, "ring") < number(before, "ring"):
        yield f"has ring {number(after, 'ring')} after {number(before, 'ring')}"


def _wrong_state(before: Item, after: Item) -> Iterator[str]:
    state, became = str(before["state"]), str(after["state"])
    if became not in FOLLOWERS.get(state, {state}):
        yield f"went from {state} to {became}"
    changed = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
    is_release = "owner" in before and "owner" not in after and changed <= LOCK_ATTRIBUTES
    if state in ENDED and changed and not is_release:
        yield f"was {state}, and {sorted(changed)} changed"


def _wrong_hands(before: Item, after: Item, now_ms: int) -> Iterator[str]:
    """A lock is given by a delivery, once the one before it is over, and not revived."""
    latest = now_ms + SKEW_TOLERATED_MS
    raised = number(after, "delivery_token") - number(before, "delivery_token")
    if raised not in (0, 1):
        yield f"had token {number(before, 'delivery_token')}, which rose by {raised}"
    if raised:
        if before["state"] != "active":
            yield f"is {before['state']!s} and was claimed"
        if "owner" in before and number(before, "lock_until", latest + 1) > latest:
            yield f"was claimed while {before['owner']!r} had it"
        if number(before, "retry_at") > latest:
            yield "was claimed before its retryAt"
    elif after.get("owner") not in (before.get("owner"), None):
        yield "changed hands without a delivery"
    elif _is_taken_away(before, after):
        yield f"was taken from {before['owner']!r}, whose lock it was"


def _is_taken_away(before: Item, after: Item) -> bool:
    """Say whether a lock is gone although nobody failed or ended the job."""
    is_dropped = "owner" in before and "owner" not in after and "lock_until" in before
    same = all(before.get(name) == after.get(name) for name in ("state", "attempts"))
    return is_dropped and same


def _wrong_series(before: Item, after: Item) -> Iterator[str]:
    """A failure counts for the latest delivery and spends one, unless it says what is left as
    workers of Priostack do; what an operator set is kept."""
    spent = number(after, "attempts") - number(before, "attempts")
    if spent > 0:
        named = number(after, "last_recorded_token")
        is_named = named != number(before, "last_recorded_token")
        if is_named and named != number(before, "delivery_token"):
            yield f"failed by delivery {named}, which is superseded"
        lowered = number(after, "retries") == number(before, "retries") - 1
        if spent != 1 or not (lowered or after.get("profile") == Profile.PRIOSTACK):
            yield (
                f"spent {spent} attempts, and retries went from {number(before, 'retries')} "
                f"to {number(after, 'retries')}"
            )
    if (before["state"], after["state"]) == ("failed", "active"):
        kept = number(after, "retries") == number(before, "retries")
        if before.get("retries_set_by_operator") and not kept:
            yield f"was resolved, and the {number(before, 'retries')} retries set are forgotten"
