"""Subscriptions: what an event waits for by a name, and what follows when it comes.

A subscription is a record of the instance, and stands a second time under the message's name and
key, or the signal's name, where whoever publishes looks for it; both are written and deleted by
the same turns. What comes ends it, so it comes once; a boundary event that does not interrupt
waits on under a new key.

In ZenBPM's profile one subscription at most may wait for a name and key, in all instances. The
engine cannot see the others: it asks by `Missing` who holds the name.

Source: BPMN 2.0.2 section 13.5.3; contracts/zenbpm.md 4.3 ("Messages"); contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import EventType
from chalicelib.engine import catching
from chalicelib.engine.commands import Correlate, SeekMessage
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import Send
from chalicelib.engine.expressions import blamed, extract, extract_text, show
from chalicelib.engine.state import RecordKey, Subscription, Waited
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Missing, Subscribed, Unsubscribed
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject, JsonValue, dumps

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


OVER_MAX = 16  # broadcasts that a subscription remembers; each takes seconds


class Named(NamedTuple):
    """What an event is to wait for; `key` is None for a signal."""

    node: Node
    name: str
    key: str | None


def plan(draft: Draft, node: Node, seen: JsonObject) -> Named:
    """Say what a message or signal event waits for.

    Raises: Stuck(EXTRACT_VALUE_ERROR), Stuck(NAME_TAKEN); Missing.
    """
    named = name_of(draft, node, seen)
    if named.key is None and node.element.event_type is EventType.MESSAGE:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"message of {node.id} has no correlation key")
    if named.key is not None and draft.rules.keys_are_unique:
        _check_free(draft, node, Waited(named.name, named.key))
    return named


def name_of(draft: Draft, node: Node, seen: JsonObject) -> Named:
    """Compute the name and key of what a message or signal event is about. Raises: Stuck."""
    plan = node.event_name
    assert plan is not None
    what = node.element.event_type.value
    name = extract_text(plan.name, seen, draft.moment, f"{what} name of {node.id}")
    if plan.correlation_key is None:
        return Named(node, name, None)
    where = f"correlation key of {node.id}"
    value = extract(plan.correlation_key, seen, draft.moment, where)
    try:
        return Named(node, name, _key(draft, value, where))
    except Stuck as stuck:
        raise blamed(draft, plan.correlation_key, seen, stuck) from None


def check_distinct(draft: Draft, wanted: Iterable[Named]) -> None:
    """Refuse, where only one may wait, two of one element that would. Raises: Stuck."""
    if not draft.rules.keys_are_unique:
        return
    found: set[Waited] = set()
    for node, name, key in wanted:
        if key is None:
            continue
        waited = Waited(name, key)
        if waited in found:
            raise _taken(node, waited, f"another event of {node.element.attached_to or 'its'}")
        found.add(waited)


def subscribe(draft: Draft, element_key: int, named: Named) -> Subscription:
    """Make the record of what an event waits for, on behalf of an element instance."""
    node, name, key = named
    subscription = Subscription(
        key=draft.keys.next(),
        instance_key=draft.key,
        element_id=node.id,
        element_key=element_key,
        kind=node.element.event_type,
        name=name,
        created_at=draft.now,
        correlation_key=key,
        is_unique=key is not None and draft.rules.keys_are_unique,
        after=" ".join(signal for _, signal in draft.signals[-OVER_MAX:]) or None,
        part=node.part or None,
    )
    draft.put(subscription)
    draft.history.append(Subscribed(subscription.key, node.id, element_key, name, key))
    if key is not None and draft.rules.buffers_messages:
        command = SeekMessage(subscription.key, name, key, draft.root.bpmn_process_id)
        draft.emit(Send(draft.key, command, draft.version))
    return subscription


def correlate(draft: Draft, command: Correlate) -> None:
    """Let what a subscription waits for come.

    Raises: Rejected(NOT_FOUND) if it waits no more: whoever publishes looks again.
    """
    subscription = draft.find(Subscription, command.subscription_key)
    if subscription is None or subscription.name != command.name or _is_over(subscription, command):
        raise Rejected(
            Reason.NOT_FOUND,
            f"subscription {command.subscription_key} waits no more for {command.name!r}",
        )
    if command.broadcast is not None:
        draft.signals = [(0, signal) for signal in (*_over(subscription), command.broadcast)]
    draft.drop(Subscription, subscription.key)
    draft.history.append(Unsubscribed(subscription.key, came=True))
    element, node = draft.live[subscription.element_key], draft.plan.nodes[subscription.element_id]
    rest = tuple(key for key in element.subscriptions if key != subscription.key)
    if not node.element.cancel_activity:
        event = _part(node, subscription)
        named = Named(event, subscription.name, subscription.correlation_key)
        rest = (*rest, subscribe(draft, element.key, named).key)
    element = draft.live[element.key] = element._replace(subscriptions=rest)
    catching.happen(draft, node, element, command.variables, subscription.part)


def _part(node: Node, subscription: Subscription) -> Node:
    """Return, of an event of several definitions, itself about the one that is waited for."""
    alike = [part for part in node.parts if part.element.event_type is subscription.kind]
    own = (part for part in alike if part.part == subscription.part)
    return next(own, alike[0] if alike else node)


def _is_over(subscription: Subscription, command: Correlate) -> bool:
    """Say whether a broadcast came by already: it made this very subscription, or those before."""
    return command.broadcast in _over(subscription)


def _over(subscription: Subscription) -> list[str]:
    """Return the broadcasts that are over for a subscription: it, or one before it, had them."""
    return (subscription.after or "").split()


def _key(draft: Draft, value: JsonValue, where: str) -> str:
    """Return a correlation key as a text. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal) and not draft.rules.keys_are_texts:
        return dumps(value)
    expected = "a text" if draft.rules.keys_are_texts else "a text or a number"
    raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"{where}: expected {expected}, found {show(value)}")


def _check_free(draft: Draft, node: Node, waited: Waited) -> None:
    """Raises: Stuck(NAME_TAKEN) if another waits for the message; Missing if that is unknown."""
    for record in draft.records.values():
        if isinstance(record, Subscription) and record.is_unique and _of(record) == waited:
            raise _taken(node, waited, f"subscription {record.key} of this instance")
    holder = draft.holders.get(waited)
    if holder is None:
        raise Missing(frozenset(), frozenset({waited}))
    if holder and RecordKey(Subscription, holder) not in draft.gone:
        raise _taken(node, waited, f"subscription {holder}")


def _of(record: Subscription) -> Waited:
    return Waited(record.name, record.correlation_key or "")


def _taken(node: Node, waited: Waited, by: str) -> Stuck:
    return Stuck(
        ErrorType.NAME_TAKEN,
        f"{node.id}: expected nobody to wait for message {show(waited.name)} with correlation key "
        f"{show(waited.key)}, found {by}",
    )
