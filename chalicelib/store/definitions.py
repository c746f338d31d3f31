"""Deployed process definitions: immutable, so a container reads each once.

A definition is a small item that says what it is, and chunks of its compiled model; the XML
belongs to the first definition of its file. Identity and versions are per process id and profile.
Chunks are put before the transaction that makes the definitions known, which rests on *latest* as
it was read: of two deployments at once one starts over, and nobody sees half of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib import bpmn
from chalicelib.bpmn import codec
from chalicelib.bpmn.model import NAME_MAX, Process
from chalicelib.engine.keys import first_key
from chalicelib.engine.start_timers import StartTimer
from chalicelib.engine.state import Profile
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.ports import (
    LIVE,
    Absent,
    Check,
    Item,
    ItemKey,
    Put,
    Query,
    Refused,
    Table,
    Write,
)
from chalicelib.store import blocks, chunks, fields, latest, reading, start_timers, table
from chalicelib.store.caches import Kept
from chalicelib.store.latest import Latest

KEPT_MAX = 200  # compiled definitions a container keeps (persistence.procDefCacheSize)
CURRENT_TIME = timedelta(minutes=1)  # for which a definition is taken not to have been deleted
RACES_MAX = 10  # deployments of one process id that may come first, one after another

# Profiles in which what is deployed is always a new version, even if nothing changed.
ALWAYS_NEW = frozenset({Profile.PRIOSTACK})


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionInfo:
    """What a definition is.

    Shapes: `fingerprint` is equal for files that differ in white space and formatting only;
        `xml_key` is the definition that holds the XML of their common file; one that was deleted
        says when: only what is there of it already goes on.
    """

    key: int
    bpmn_process_id: str
    name: str | None
    version: int
    version_tag: str | None
    profile: Profile
    deployed_at: datetime
    fingerprint: str
    xml_key: int
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(DefinitionInfo):
    """A definition with its compiled process."""

    process: Process


@dataclass(frozen=True, slots=True)
class Deployment:
    """A file as it was uploaded, and the executable processes that were found in it.

    Shapes: `starts` are the timers that start instances, by process id and element id.
    """

    xml: bytes
    fingerprint: str
    processes: Sequence[Process]
    profile: Profile
    starts: Mapping[str, Mapping[str, StartTimer]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deployed:
    """The definitions of a file's processes in its order; `created` if any of them is new."""

    definitions: tuple[DefinitionInfo, ...]
    created: bool


class New(NamedTuple):
    """A definition that is about to be known, and its pointer's generation then."""

    info: DefinitionInfo
    generation: int


class Known(NamedTuple):
    """The latest version of a process as it was read, if there is one, and its pointer."""

    pointer: Latest
    info: DefinitionInfo | None


_FIELDS = (
    *fields.plain("bpmn_process_id", "name", "version", "version_tag", "fingerprint", "xml_key"),
    *fields.words("profile", Profile),
    *fields.times("deployed_at", "deleted_at"),
)
DELETED = "deleted_at"

_KEPT: Kept[Definition] = Kept(KEPT_MAX)
_ASKED: Kept[datetime] = Kept(KEPT_MAX)  # when it was asked whether a definition was deleted


def deploy(
    store: Table,
    deployment: Deployment,
    *,
    now: datetime,
    token: str,
    promise: Callable[[Sequence[New]], None] = lambda new: None,
) -> Deployed:
    """Make the processes of a file known, each as the next version of its id and profile.

    A process whose latest version came from equal content keeps it, but for profiles in which
    every deployment is new. `token` is a fresh random id; `promise` is told the new definitions
    before they are committed, for what they will owe.
    Raises: Rejected if a version tag is taken; TooLarge; Conflict.
    """
    base = 0
    for race in range(RACES_MAX):
        found = [_latest(store, deployment.profile, process.id) for process in deployment.processes]
        if all(_is_same(known, deployment) for known in found):
            infos = [known.info for known in found if known.info is not None]
            return Deployed(tuple(infos), created=False)
        if not base:
            base = first_key(blocks.take(store)) + 1
            chunks.put(store, _texts(base, deployment))
        infos = _next_versions(deployment, found, base, now)
        promise(
            [
                New(info, latest.moved_on(known.pointer, info.key).generation)
                for info, known in zip(infos, found, strict=True)
                if info is not known.info
            ]
        )
        if _commit(store, deployment, infos, found, f"{token[:30]}-{race}"):
            return Deployed(tuple(infos), created=True)
    raise Conflict(f"process {deployment.processes[0].id} was deployed by others {RACES_MAX} times")


def current_info(store: Table, key: int) -> DefinitionInfo | None:
    """Say what a definition is, unless it was deleted; read consistently."""
    info = _info(store.get(table.definition_key(key)))
    return None if info is None or info.deleted_at is not None else info


def current(store: Table, key: int) -> Definition | None:
    """Return a definition, unless it was deleted."""
    return None if current_info(store, key) is None else get(store, key)


def startable(store: Table, key: int, now: datetime) -> Definition | None:
    """Return a definition that may start instances: one that was not deleted, as far as this
    container knows, which asks again after a time. Else its one item would be read for each start.
    """
    asked_at = _ASKED.get(store, key)
    if asked_at is not None and now - asked_at < CURRENT_TIME:
        return get(store, key)
    definition = current(store, key)
    if definition is not None:
        _ASKED.keep(store, key, now)
    return definition


def forget(store: Table, key: int) -> None:
    """Ask again whether a definition may start instances."""
    _ASKED.drop(store, key)


def get(store: Table, key: int) -> Definition | None:
    """Return a definition with its compiled process, also one that was deleted, for what runs of
    it; from memory if it was read before."""
    definition = _KEPT.get(store, key)
    if definition is None:
        info = _info(store.get(table.definition_key(key)))
        if info is None:
            return None
        definition = _with_process(info, _process(store, info))
        remember(store, definition)
    return definition


def remember(store: Table, definition: Definition) -> None:
    """Keep a definition in this container's memory, so that it is not read again."""
    _KEPT.keep(store, definition.key, definition)


def xml(store: Table, key: int) -> bytes | None:
    """Return the file a definition came from, byte for byte."""
    info = _info(store.get(table.definition_key(key)))
    return None if info is None else chunks.read(store, info.xml_key, table.XML)


def latest_of(store: Table, process_id: str, profile: Profile) -> Definition | None:
    """Return the latest version of a process, read consistently."""
    if len(process_id) > NAME_MAX:  # nobody deployed it, and DynamoDB has no key of that length
        return None
    key = latest.read(store, table.latest_key(profile.value, process_id)).definition_key
    return None if key is None else get(store, key)


def tagged(store: Table, process_id: str, profile: Profile, tag: str) -> Definition | None:
    """Return the version of a process that has a tag."""
    if len(process_id) > NAME_MAX or len(tag) > NAME_MAX:
        return None
    pointer = store.get(table.tag_key(profile.value, process_id, tag))
    return None if pointer is None else get(store, int(str(pointer["definition_key"])))


def deployed_with(store: Table, key: int, process_id: str) -> Definition | None:
    """Return the version of a process that came with the file of another definition.

    A process that the file left as it was keeps the version it had, of an earlier file like it.
    """
    caller = get(store, key)
    if caller is None:
        return None
    infos = [info for info in list_all(store) if info.bpmn_process_id == process_id]
    infos = [info for info in infos if info.profile is caller.profile]
    same = [info for info in infos if info.xml_key == caller.xml_key]
    same = same or [info for info in infos if info.fingerprint == caller.fingerprint]
    return get(store, same[-1].key) if same else None


def list_all(store: Table, *, with_deleted: bool = False) -> list[DefinitionInfo]:
    """Return all definitions, later versions after earlier ones, read consistently."""
    infos = map(_info, reading.every(store, Query(LIVE, table.DEFINITIONS)))
    found = [info for info in infos if info is not None]
    found = [info for info in found if with_deleted or info.deleted_at is None]
    return sorted(found, key=lambda info: (info.version, info.key))


def _info(item: Item | None) -> DefinitionInfo | None:
    if item is None:
        return None
    return DefinitionInfo(
        key=int(str(item["sk"])),
        **({"name": None, "version_tag": None} | fields.read(_FIELDS, item)),
    )


def _process(store: Table, info: DefinitionInfo) -> Process:
    """Read the compiled process; one compiled by another version of us is compiled again."""
    try:
        return codec.from_json(chunks.read(store, info.key, table.MODEL).decode())
    except codec.UnknownFormat:
        source = chunks.read(store, info.xml_key, table.XML)
        compiled = {process.id: process for process in bpmn.parse(source, info.profile)}
        return compiled[info.bpmn_process_id]


def _with_process(info: DefinitionInfo, process: Process) -> Definition:
    own = {name: getattr(info, name) for name in DefinitionInfo.__slots__}
    return Definition(process=process, **own)


def _latest(store: Table, profile: Profile, process_id: str) -> Known:
    pointer = latest.read(store, table.latest_key(profile.value, process_id))
    if pointer.definition_key is None:
        return Known(pointer, None)
    return Known(pointer, _info(store.get(table.definition_key(pointer.definition_key))))


def _is_same(known: Known, deployment: Deployment) -> bool:
    if known.info is None or deployment.profile in ALWAYS_NEW:
        return False
    return known.info.fingerprint == deployment.fingerprint


def _next_versions(
    deployment: Deployment,
    found: Sequence[Known],
    base: int,
    now: datetime,
) -> list[DefinitionInfo]:
    """Return what each process of the file is after the deployment."""
    return [
        known.info
        if known.info is not None and _is_same(known, deployment)
        else DefinitionInfo(
            key=base + number,
            bpmn_process_id=process.id,
            name=process.name,
            version=known.pointer.highest + 1,
            version_tag=process.version_tag,
            profile=deployment.profile,
            deployed_at=now,
            fingerprint=deployment.fingerprint,
            xml_key=base,
        )
        for number, (process, known) in enumerate(zip(deployment.processes, found, strict=True))
    ]


def _commit(
    store: Table,
    deployment: Deployment,
    infos: Sequence[DefinitionInfo],
    found: Sequence[Known],
    token: str,
) -> bool:
    """Write what is new, if *latest* is as it was read. Raises: Rejected if a tag is taken."""
    writes: list[Write] = []
    for info, known in zip(infos, found, strict=True):
        writes += _writes(info, known, deployment.starts.get(info.bpmn_process_id, {}))
    outcome = store.transact(writes, token)
    if not isinstance(outcome, Refused):
        return True
    refused = writes[outcome.index]
    if refused.key.sk.startswith("T#"):
        info = next(info for info in infos if refused.key == tag_key(info))
        taken = (outcome.item or {}).get("version")
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"process {info.bpmn_process_id}: expected a new version tag, "
            f"found {info.version_tag}, which version {taken!r} has",
        )
    return False


def _writes(info: DefinitionInfo, known: Known, starts: Mapping[str, StartTimer]) -> list[Write]:
    place = table.latest_key(info.profile.value, info.bpmn_process_id)
    as_read = latest.as_read(known.pointer)
    if info is known.info:
        return [Check(place, as_read)]
    moved = latest.moved_on(known.pointer, info.key)
    named: Item = {"definition_key": info.key, "version": info.version}
    item = {**latest.attributes(moved), **start_timers.attributes(starts, moved)}
    writes: list[Write] = [
        Put(place, item, as_read),
        Put(table.definition_key(info.key), fields.write(_FIELDS, info), (Absent("pk"),)),
    ]
    if info.version_tag is not None:
        writes.append(Put(tag_key(info), named, (Absent("pk"),)))
    return writes


def tag_key(info: DefinitionInfo) -> ItemKey:
    """Return where the version of a definition's tag is named."""
    return table.tag_key(info.profile.value, info.bpmn_process_id, info.version_tag or "")


def _texts(base: int, deployment: Deployment) -> dict[tuple[int, str], bytes]:
    """Return what is to be read of a file: its XML, and each process compiled."""
    texts = {(base, table.XML): deployment.xml}
    for number, process in enumerate(deployment.processes):
        texts[base + number, table.MODEL] = codec.to_json(process).encode()
    return texts
