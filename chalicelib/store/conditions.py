"""What must still hold for a decision to stand: the table of design section 3, as data.

One row per guard, one named clause per condition. From this table the condition of every write
is built, and the guard-mutation test takes clauses out of it one at a time: each must be missed.
A clause is made of the record *as read*, on which the decision rests, and of what was asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from chalicelib.engine.guards import Guard
from chalicelib.engine.state import Job, JobState, Record, Root
from chalicelib.ports import Above, Absent, AnyOf, AtMost, Condition, Equals, Test
from chalicelib.store.moments import to_ms


@dataclass(frozen=True, slots=True)
class Asked:
    """What a write on a single job was asked for, beside what the record says.

    Shapes: `until` is when the lock shall end; `token` is the delivery the client names, None if
        it names none; `rings` says that the write makes the next bell the live one; `version` is
        that of a record as read which is of no instance, None if there was none; `holder` is the
        subscription of ours that stands there, None if nobody's may, or the latest definition.
    """

    now: datetime | None = None
    until: datetime | None = None
    client_id: str | None = None
    token: int | None = None
    rings: bool = False
    version: int | None = None
    holder: int | None = None


NOTHING_ASKED = Asked()


class Clause(NamedTuple):
    """One condition of a row; `test` gives None where it does not apply."""

    name: str
    test: Callable[[Root | Record | None, Asked], Test | None]


Rule = tuple[Clause, ...]


def condition(guard: Guard, read: Root | Record | None, asked: Asked = NOTHING_ASKED) -> Condition:
    """Return what a write under that guard demands of the item."""
    tests = (clause.test(read, asked) for clause in GUARDS[guard])
    return tuple(test for test in tests if test is not None)


def _job(read: Root | Record | None) -> Job:
    if not isinstance(read, Job):
        raise TypeError(f"expected a job as read, found {read!r}")
    return read


def _root(read: Root | Record | None) -> Root:
    if not isinstance(read, Root):
        raise TypeError(f"expected a root as read, found {read!r}")
    return read


def _as_read(attribute: str) -> Clause:
    return Clause(
        f"{attribute} as read",
        lambda read, _: Equals(attribute, getattr(_job(read), attribute)),
    )


def _owner_as_read(read: Root | Record | None, _: Asked) -> Test:
    owner = _job(read).owner
    return Absent("owner") if owner is None else Equals("owner", owner)


def _not_waiting(_: Root | Record | None, asked: Asked) -> Test:
    return AnyOf((Absent("retry_at"), AtMost("retry_at", _now(asked))))


def _not_held(_: Root | Record | None, asked: Asked) -> Test:
    return AnyOf((Absent("owner"), AtMost("lock_until", _now(asked))))


def _not_lapsed(_: Root | Record | None, asked: Asked) -> Test:
    return Above("lock_until", _now(asked))


def _owner_is_client(_: Root | Record | None, asked: Asked) -> Test:
    return Equals("owner", asked.client_id)


def _token_named(_: Root | Record | None, asked: Asked) -> Test | None:
    return None if asked.token is None else Equals("delivery_token", asked.token)


def _ring_if_it_rings(read: Root | Record | None, asked: Asked) -> Test | None:
    return Equals("ring", _job(read).ring) if asked.rings else None


def _longer_if_not(_: Root | Record | None, asked: Asked) -> Test | None:
    """Demand that the lock does not end earlier: its bell may be rung on for its end already."""
    return None if asked.rings else AtMost("lock_until", _moment(asked.until))


def _expired(_: Root | Record | None, asked: Asked) -> Test:
    return AnyOf((Absent("pk"), AtMost("expires_at", _now(asked) // 1000)))


def _version_as_read(_: Root | Record | None, asked: Asked) -> Test:
    return Absent("pk") if asked.version is None else Equals("version", asked.version)


def _held_as_read(_: Root | Record | None, asked: Asked) -> Test:
    return Absent("pk") if asked.holder is None else Equals("subscription", asked.holder)


def _definition_as_read(_: Root | Record | None, asked: Asked) -> Test:
    return Equals("definition_key", asked.holder)


def _firings_as_read(_: Root | Record | None, asked: Asked) -> Test:
    return Equals("firings", asked.version)


def _now(asked: Asked) -> int:
    return _moment(asked.now)


def _moment(moment: datetime | None) -> int:
    if moment is None:
        raise TypeError("expected a time in what was asked, found none")
    return to_ms(moment)


_ABSENT = Clause("absent", lambda *_: Absent("pk"))
_ACTIVE = Clause("active", lambda *_: Equals("state", JobState.ACTIVE.value))
_FAILED = Clause("failed", lambda *_: Equals("state", JobState.FAILED.value))
_STATE = Clause("state as read", lambda read, _: Equals("state", _job(read).state.value))
_RING = _as_read("ring")
_TOKEN = _as_read("delivery_token")
_ATTEMPTS = _as_read("attempts")
_RETRIES = _as_read("retries")
_VERSION = Clause("version as read", _version_as_read)

GUARDS: dict[Guard, Rule] = {
    Guard.START: (_ABSENT,),
    Guard.TURN: (
        Clause("version as read", lambda read, _: Equals("version", _root(read).version)),
    ),
    Guard.NEW: (_ABSENT,),
    Guard.CHANGED: (),
    Guard.CLAIM: (
        _as_read("kind"),
        _as_read("type"),
        _ACTIVE,
        Clause("not waiting", _not_waiting),
        Clause("not held", _not_held),
        _RING,
    ),
    Guard.EXTEND: (
        _ACTIVE,
        Clause("owner is the client", _owner_is_client),
        Clause("not lapsed", _not_lapsed),
        Clause("token as named", _token_named),
        Clause("ring as read, if it rings", _ring_if_it_rings),
        Clause("no shorter, if it does not", _longer_if_not),
    ),
    Guard.ASSIGN: (_ACTIVE,),
    Guard.RETRIED_FAILURE: (_ACTIVE, _TOKEN, _ATTEMPTS, _RETRIES, _RING),
    Guard.EXHAUSTING_FAILURE: (_ACTIVE, _TOKEN, _ATTEMPTS, _RETRIES),
    Guard.COMPLETE: (_ACTIVE,),
    Guard.CANCEL: (_STATE,),
    Guard.SET_RETRIES: (_STATE, _ATTEMPTS, _RING),
    Guard.RESOLVE: (_FAILED, _as_read("retries_set_by_operator"), _RING),
    Guard.RELEASE: (Clause("owner as read", _owner_as_read), _TOKEN, _RING),
    Guard.RING_AGAIN: (_ACTIVE, _RING),
    Guard.START_MARK: (Clause("absent or expired", _expired),),
    Guard.REQUEST: (_VERSION,),
    Guard.START_LOCK: (_ABSENT,),
    Guard.NAME: (Clause("held as read", _held_as_read),),
    Guard.START_TIMER: (
        Clause("definition as read", _definition_as_read),
        Clause("firings as read", _firings_as_read),
    ),
    Guard.CLIENT_CAP: (_VERSION,),
}
