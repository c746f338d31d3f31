"""Records as items and back: one row per record in RECORDS.

A record is one item, with two exceptions. The top scope's variables are an attribute of the root
while they are small. A job is hot and small, read and written by every claim, so what is large
of it lies beside: inputs and headers as captured at its creation in a payload item, outputs in
one of their own. The hot item says what lies apart, so a small job costs no second read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from chalicelib import json_text
from chalicelib.bpmn.model import Binding, EventType
from chalicelib.engine.limits import SMALL_INPUTS_BYTES, SMALL_VARIABLES_BYTES
from chalicelib.engine.state import (
    ChildWait,
    Failure,
    Incident,
    InstanceState,
    Job,
    JobState,
    LoopItems,
    LoopResults,
    Profile,
    Record,
    RecordKey,
    Root,
    Stage,
    StartLock,
    Subscription,
    Thrown,
    Timer,
    Variables,
)
from chalicelib.ports import LIVE, Item, ItemKey
from chalicelib.store import execution, fields, table
from chalicelib.store.fields import Fields
from chalicelib.store.moments import from_ms, to_ms

ENDLESS = -1  # of a timer's remaining firings
OPEN_STATES = frozenset({InstanceState.ACTIVE, InstanceState.TERMINATING})

ROOT_FIELDS: Fields = (
    *fields.plain("definition_key", "bpmn_process_id", "definition_version"),
    *fields.plain("version", "turn_id", "business_key"),
    *fields.words("profile", Profile),
    *fields.words("state", InstanceState),
    *fields.times("created_at", "ended_at"),
    *fields.spans("time_to_live"),
    *fields.texts("start_lock", StartLock),
)
JOB_FIELDS: Fields = (
    *fields.plain("element_id", "element_key", "scope", "kind", "type", "element_type"),
    *fields.plain("retries", "attempts", "retries_set_by_operator", "assignee", "owner"),
    *fields.plain("candidate_groups", "candidate_users", "priority"),
    *fields.times("due_at", "follow_up_at"),
    *fields.json_texts("form", "carried", "denied"),
    *fields.plain("listener", "transition"),
    *fields.plain("delivery_token", "last_recorded_token", "last_failure_message", "failures"),
    *fields.plain("ring", "claim_id"),
    *fields.times("created_at", "retry_at", "lock_until", "ring_at"),
    *fields.spans("lock_duration"),
    *fields.words("state", JobState),
    *fields.words("profile", Profile),
    *fields.backoffs("retry_policy"),
)
PAYLOAD_FIELDS: Fields = fields.json_texts("inputs", "headers", "local")
OUTPUTS_FIELDS: Fields = fields.json_texts("outputs")


class Row(NamedTuple):
    """How one type of record is stored: what its sort key begins with, and its fields."""

    prefix: str
    fields: Fields


RECORDS: Mapping[type[Record], Row] = {
    Variables: Row(table.VARIABLES, fields.json_texts("values")),
    Job: Row(table.JOB, JOB_FIELDS),
    Timer: Row(
        table.TIMER,
        (
            *fields.plain("element_id", "element_key", "interval", "part"),
            *fields.times("due", "created_at", "anchor"),
            *fields.maybe("remaining", ENDLESS),
        ),
    ),
    Subscription: Row(
        table.SUBSCRIPTION,
        (
            *fields.plain("element_id", "element_key", "name", "correlation_key"),
            *fields.plain("is_unique", "after", "part"),
            *fields.times("created_at"),
            *fields.words("kind", EventType),
        ),
    ),
    Incident: Row(
        table.INCIDENT,
        (
            *fields.plain("element_id", "element_key", "error_type", "message", "job_key"),
            *fields.plain("scope", "is_unarmed", "is_listening"),
            *fields.times("created_at", "resolved_at", "acknowledged_at"),
            *fields.words("stage", Stage),
        ),
    ),
    ChildWait: Row(
        table.CHILD_WAIT,
        (
            *fields.plain("element_id", "element_key", "process_id", "version_tag"),
            *fields.plain("business_key", "scope", "depth", "heard", "first", "count", "reported"),
            *fields.times("created_at"),
            *fields.words("binding", Binding),
            *fields.json_texts("errors", "escalations", "variables", "items", "local"),
        ),
    ),
    Thrown: Row(table.THROWN, (*fields.plain("code"), *fields.json_texts("variables"))),
    LoopItems: Row(table.LOOP_ITEMS, fields.json_texts("items")),
    LoopResults: Row(table.LOOP_RESULTS, fields.numbered_json("values")),
    Failure: Row(
        table.FAILURE,
        (
            *fields.plain("key", "attempt", "message", "incident_key", "delivery_token"),
            *fields.times("failed_at", "retry_at"),
        ),
    ),
}
_TYPES: Mapping[str, type[Record]] = {row.prefix: kind for kind, row in RECORDS.items()}


# --- the root ----------------------------------------------------------------------------------


def of_root(root: Root, top: Variables | None) -> Item:
    """Return the root's item, with the top scope's variables if they are small."""
    item = fields.write(ROOT_FIELDS, root)
    item["execution"] = execution.pack(execution.to_text(root))
    item["listed_in"] = table.shard_pk(table.INSTANCES, table.shard_of(root.key))
    # A part of a body is of no definition in lists: it is shown as a child of that body alone.
    definition = 0 if root.is_part else root.definition_key
    item["listed_at"] = table.listed_at(to_ms(root.created_at), root.key, definition)
    if root.state in OPEN_STATES:
        item["open_in"] = item["listed_in"]
    if top is not None and is_small(text := json_text.dumps(top.values)):
        item["variables"] = text
    return item


def to_root(item: Item) -> Root:
    """Read a root."""
    key = table.instance_key(str(item["pk"]))
    own = fields.read(ROOT_FIELDS, item)
    state = execution.from_text(execution.unpack(item["execution"]), key, own["created_at"])
    return Root(key=key, **own, **state)


def inline_variables(item: Item) -> Variables | None:
    """Return the top scope's variables if the root's item holds them."""
    if "variables" not in item:
        return None
    values: Any = json_text.loads(str(item["variables"]))
    return Variables(table.instance_key(str(item["pk"])), values)


def is_small(text: str) -> bool:
    """Say whether the top scope's variables fit on the root."""
    return len(text.encode()) <= SMALL_VARIABLES_BYTES


# --- records -----------------------------------------------------------------------------------


def place_of(instance: int, key: RecordKey) -> ItemKey:
    """Return where a record is. Raises: ValueError for a failure, which its number places."""
    if key.type is Failure:
        raise ValueError(f"failure {key.key} is found by its job and number, not by its key")
    return table.record_key(instance, RECORDS[key.type].prefix, key.key)


def of_record(instance: int, record: Record) -> dict[ItemKey, Item]:
    """Return a record's items by their places: one, and more for what is large of a job."""
    row = RECORDS[type(record)]
    item = fields.write(row.fields, record)
    match record:
        case Variables():
            return {table.record_key(instance, row.prefix, record.scope): item}
        case Job():
            return _of_job(instance, record, item)
        case Failure():
            return {table.failure_key(instance, record.job_key, record.number): item}
        case Incident(resolved_at=None):
            item["open_in"] = table.shard_pk(table.INCIDENTS, table.shard_of(instance))
            item["listed_at"] = table.listed_at(to_ms(record.created_at), record.key)
    return {table.record_key(instance, row.prefix, record.key): item}


def _of_job(instance: int, job: Job, hot: Item) -> dict[ItemKey, Item]:
    items = {table.record_key(instance, table.JOB, job.key): hot}
    for prefix, name, part_fields in _PARTS:
        part = fields.write(part_fields, job)
        if sum(len(str(text).encode()) for text in part.values()) <= SMALL_INPUTS_BYTES:
            hot.update(part)
        else:
            hot[name] = True
            items[table.record_key(instance, prefix, job.key)] = part
    return items


_PARTS = (
    (table.PAYLOAD, "payload_apart", PAYLOAD_FIELDS),
    (table.OUTPUTS, "outputs_apart", OUTPUTS_FIELDS),
)


def parts_of(item: Item) -> list[ItemKey]:
    """Return where the rest of a record is, if the item is a job's and something lies apart."""
    instance, key = table.instance_key(str(item["pk"])), str(item["sk"])[2:]
    return [
        table.record_key(instance, prefix, int(key)) for prefix, name, _ in _PARTS if name in item
    ]


def to_record(item: Item, parts: Mapping[ItemKey, Item]) -> Record | None:
    """Read a record; None if the item is a root, an alias or a part of a job.

    Shapes: `parts` has at least the items of `parts_of`.
    """
    instance, sk = table.instance_key(str(item["pk"])), str(item["sk"])
    kind = _TYPES.get(sk[:2])
    if kind is None:
        return None
    own = fields.read(RECORDS[kind].fields, item)
    if kind is Variables:
        return Variables(scope=int(sk[2:]), **own)
    if kind is Job:
        return to_job(item, parts)
    if kind is Failure:
        job, number = sk[2:].split("#")
        return Failure(job_key=int(job), number=int(number), instance_key=instance, **own)
    make: Any = kind
    record: Record = make(key=int(sk[2:]), instance_key=instance, **own)
    return record


def to_job(item: Item, parts: Mapping[ItemKey, Item]) -> Job:
    """Read a job and what lies apart of it."""
    whole = dict(item)
    for place in parts_of(item):
        whole.update(parts[place])
    own = fields.read((*JOB_FIELDS, *PAYLOAD_FIELDS, *OUTPUTS_FIELDS), whole)
    return Job(
        key=int(str(item["sk"])[2:]), instance_key=table.instance_key(str(item["pk"])), **own
    )


def to_hot_job(item: Item) -> Job:
    """Read a job without what lies apart of it."""
    return to_job(item, {place: {} for place in parts_of(item)})


def to_job_again(item: Item, known: Job) -> Job:
    """Read a job's hot item after a write to it alone: what lies apart is as known."""
    job = to_hot_job(item)
    if "payload_apart" in item:
        job = job._replace(inputs=known.inputs, headers=known.headers, local=known.local)
    return job._replace(outputs=known.outputs) if "outputs_apart" in item else job


def to_records(collection: Iterable[Item]) -> list[Record]:
    """Read all records of a collection that was read whole."""
    items = {ItemKey(LIVE, str(item["pk"]), str(item["sk"])): item for item in collection}
    records = (to_record(item, items) for item in items.values())
    return [record for record in records if record is not None]


def touched_at(item: Item) -> datetime:
    """Return when a turn last wrote a root."""
    return from_ms(int(str(item["turn_at"])))
