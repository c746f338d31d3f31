"""The jobs that an activation with a request id is about to claim, listed before it claims them.

If the answer is lost, a repeat finds here which jobs to look at, and on each job whether the claim
was this request's (`claim_id`). Design section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.engine.guards import Guard
from chalicelib.ports import ItemKey, Put, Table, Written
from chalicelib.store.conditions import Asked, condition
from chalicelib.store.moments import to_ms


@dataclass(frozen=True, slots=True)
class Listed:
    """The jobs listed so far. `version` is what writers race for; None: there is no record."""

    version: int | None = None
    job_keys: tuple[int, ...] = ()


def read(store: Table, place: ItemKey) -> Listed:
    """Return what is listed."""
    item = store.get(place)
    if item is None:
        return Listed()
    keys = item["job_keys"]
    assert isinstance(keys, list)
    return Listed(int(str(item["version"])), tuple(int(str(key)) for key in keys))


def write(
    store: Table, place: ItemKey, before: Listed, job_keys: Sequence[int], until: datetime
) -> Listed | None:
    """List these jobs in place of those before; None if another attempt wrote meanwhile.

    Shapes: `until` is when nobody will look for them any more.
    """
    after = Listed((before.version or 0) + 1, tuple(job_keys))
    put = Put(
        place,
        {
            "version": after.version,
            "job_keys": list(after.job_keys),
            "expires_at": to_ms(until) // 1000,
        },
        condition(Guard.REQUEST, None, Asked(version=before.version)),
    )
    return after if isinstance(store.write(put), Written) else None
