"""Where a routed message leaves: an instance starts, a BPMN message is correlated, a URL called.

A start and a correlation happen once for a message: both are marked by its nonce in their own
transaction, so that whoever comes again, after a death before the message was settled, finds what
was done. A call may be made again, and says so by its `Idempotency-Key`, which is the nonce.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import assert_never

from chalicelib.delivery import routing
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import definitions, instances, messages, settling
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.routing.decisions import Call, Correlate, Deliver, Start, retried_at
from chalicelib.routing.messages import Entry, State
from chalicelib.scheduler.definition import HTTP, Auth, HttpCall, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome, Row, RowState
from chalicelib.store.marks import KEPT, Once

ENDPOINT = "routed message"
PASSING_STATUSES = frozenset({408, 425, 429})  # of the 4xx those that ask to come again
IDEMPOTENCY_KEY = "Idempotency-Key"


def deliver(ports: Ports, entry: Entry, decision: Deliver) -> Entry | None:
    """Do what an endpoint is for; return the message as it is then, None if somebody was first.

    Raises: Conflict.
    """
    try:
        match decision:
            case Start():
                done = _started(ports, entry, decision)
            case Correlate():
                done = _correlated(ports, entry, decision)
            case Call():
                return _called(ports, entry, decision)
            case _ as never:
                assert_never(never)
    except Rejected as rejected:
        now = ports.clock.now()
        failed = settling.failed(entry, decision.by, _why(decision, rejected), now)
        return settling.settled(ports, entry, failed)
    return settling.settled(ports, entry, done)


def _why(decision: Deliver, rejected: Rejected) -> str:
    """Say what was refused; of a process by the name that the route has of it."""
    if rejected.reason is not Reason.NOT_FOUND or not isinstance(decision, Start):
        return rejected.message
    version = "" if decision.version is None else f" in version {decision.version}"
    return f"process {decision.bpmn_process_id} is not deployed{version}"


def _started(ports: Ports, entry: Entry, decision: Start) -> Entry:
    """Start an instance, or find the one that was started. Raises: Rejected; Conflict."""
    key, id_ = None, decision.bpmn_process_id
    if decision.version is not None:
        key = definitions.version_of(ports, id_, decision.version, Profile.PRIOSTACK).key
    wanted = instances.Start(
        definition_key=key,
        bpmn_process_id=id_,
        profile=Profile.PRIOSTACK,
        variables=decision.variables,
    )
    found = instances.create_process_instance(ports, wanted, _once(ports, entry))
    return _delivered(entry, decision.by, ports.clock.now(), instance_key=found.key)


def _correlated(ports: Ports, entry: Entry, decision: Correlate) -> Entry:
    """Correlate a message, or let it wait for who subscribes. Raises: Rejected; Conflict."""
    now = ports.clock.now()
    message = messages.Message(
        decision.name, decision.correlation_key, decision.variables, profile=Profile.PRIOSTACK
    )
    once = _once(ports, entry)
    waits = entry.expires_at - now if decision.time_to_live is None else decision.time_to_live
    if decision.correlation_key is None or not waits:  # nobody who comes later can wait for it
        key = messages.publish_message(ports, message, once)
        return _delivered(entry, decision.by, now, instance_key=key)
    messages.let_message_wait(ports, message, waits, once=once)
    return _delivered(entry, decision.by, now)


def _called(ports: Ports, entry: Entry, decision: Call) -> Entry | None:
    """Call a URL; what may go better another time is tried again, later and later."""
    made = _attempt(ports, entry, decision)
    now, by, status = ports.clock.now(), decision.by, made.status_code
    if made.outcome is Outcome.SUCCEEDED:
        done = _delivered(entry, by, now, status_code=status)
        return settling.settled(ports, entry, done)
    is_final = made.outcome is Outcome.CANCELLED or (
        status is not None and 400 <= status < 500 and status not in PASSING_STATUSES
    )
    again_at = None if is_final else retried_at(entry.attempt + 1, now)
    why = made.error[: settling.WHY_MAX]
    after = entry.changed(
        now,
        state=State.FAILED if again_at is None else State.WAITING,
        attempt=entry.attempt + 1,
        due=again_at or entry.due,
        by=by,
        why=why,
        status_code=status,
    )
    if again_at is not None:
        routing.promise(ports, [routing.handling(after, now)])
    return settling.settled(ports, entry, after)


def _attempt(ports: Ports, entry: Entry, decision: Call) -> Attempt:
    """Make a call as an HTTP job makes one: through the same guard, with the same secrets."""
    now, call = ports.clock.now(), decision.endpoint
    given = {name.lower() for name, _ in call.headers}
    ours = [(IDEMPOTENCY_KEY, entry.nonce)]
    if decision.body is not None:
        ours.append(("Content-Type", "application/json"))
    headers = (*(each for each in ours if each[0].lower() not in given), *call.headers)
    auth = Auth()
    if call.auth is not None:
        secret = call.auth.secret
        auth = Auth(
            type=call.auth.type,
            username=call.auth.username,
            header=call.auth.header,
            password=secret,
            token=secret,
            value=secret,
        )
    job = ScheduledJob(
        id=f"{ENDPOINT} {entry.nonce}",
        name=decision.by,
        type=HTTP,
        http=HttpCall(decision.url, call.method, headers, decision.body, auth),
        timeout_ms=call.timeout // timedelta(milliseconds=1),
        created_at=now,
    )
    row = Row(job.id, entry.nonce, 0, 0, RowState.RUNNING, entry.attempt + 1, 1, now, now)
    return ports.runner.run(job, row, call.timeout)


def _once(ports: Ports, entry: Entry) -> Once:
    """Return what makes an endpoint serve a message once, for as long as that may come again."""
    left = entry.expires_at - ports.clock.now()
    return Once(ENDPOINT, entry.nonce, "", max(left, timedelta(0)) + KEPT)


def _delivered(entry: Entry, by: str, now: datetime, **told: int | None) -> Entry:
    return entry.changed(now, state=State.DELIVERED, by=by, why=None, **told)
