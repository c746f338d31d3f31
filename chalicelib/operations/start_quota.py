"""A quota of starts, as of an account that pays for each: `priostack.startQuota`, off at first.

It is counted before an instance is started, and given back if the start is refused; a process that
dies in between loses one. Repeats of a start that was done count once.
"""

from __future__ import annotations

from chalicelib.errors import QuotaUsedUp, Rejected, Unavailable
from chalicelib.operations.instances import Start, create_process_instance
from chalicelib.operations.repeats import done_before
from chalicelib.operations.scopes import Found
from chalicelib.ports import Ports
from chalicelib.store import start_quota
from chalicelib.store.marks import Once


def create_within_quota(ports: Ports, wanted: Start, once: Once | None = None) -> Found:
    """Start an instance if the quota allows it.

    Raises: QuotaUsedUp; as `create_process_instance`.
    """
    quota = ports.settings.start_quota
    if not quota or done_before(ports, once) is not None:
        return create_process_instance(ports, wanted, once)
    used = start_quota.add(ports.table, 1)
    if used > quota:
        start_quota.add(ports.table, -1)
        raise QuotaUsedUp(f"the quota of {quota} starts is used up (priostack.startQuota)")
    try:
        return create_process_instance(ports, wanted, once)
    except (Rejected, Unavailable):
        start_quota.add(ports.table, -1)
        raise
