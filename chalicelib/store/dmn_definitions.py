"""Deployed DMN files: immutable, so a container reads each once, and in versions.

As with processes a definition is a small item that says what it is, and chunks of its XML and its
compiled model, with all that it imports. Identity and versions are per resource id (the `id` of
the file's `definitions`) and profile. Beside the resource's own *latest* each decision has one, so
that a business rule task finds its decision by one read of a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib import feel
from chalicelib.bpmn.model import NAME_MAX, Binding
from chalicelib.engine.decided import Called
from chalicelib.engine.keys import first_key
from chalicelib.errors import Conflict, TooLarge
from chalicelib.ports import LIVE, Absent, Item, ItemKey, Put, Query, Refused, Table, Write
from chalicelib.profile import Profile
from chalicelib.store import blocks, chunks, definitions, fields, latest, reading, table
from chalicelib.store.caches import Kept
from chalicelib.store.definitions import RACES_MAX
from chalicelib.store.latest import Latest

if TYPE_CHECKING:
    from chalicelib.dmn import Model

KEPT_MAX = 200  # compiled models a container keeps (persistence.decDefCacheSize)
NAMES_MAX = 96  # decisions and version tags of one file: a write each in one transaction

# Models of Camunda's modeler use functions beyond the standard's, which ZEEBE knows beside those.
FEEL = feel.Profile.ZEEBE


@dataclass(frozen=True, slots=True, kw_only=True)
class DmnDefinitionInfo:
    """What a DMN definition is.

    Shapes: `decisions` are the ids of its own decisions and decision services, `tags` the version
        tags of those that have one; `fingerprint` and `deleted_at` as a process definition's.
    """

    key: int
    resource_id: str
    name: str
    namespace: str
    version: int
    profile: Profile
    deployed_at: datetime
    fingerprint: str
    decisions: tuple[str, ...]
    tags: Mapping[str, str]
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DmnDefinition(DmnDefinitionInfo):
    """A definition with its compiled model."""

    model: Model


@dataclass(frozen=True, slots=True)
class DmnDeployment:
    """A file as it was uploaded, and what was made of it.

    Shapes: all but the key, the version and the time of `info` is as it will be.
    """

    xml: bytes
    model: Model
    info: DmnDefinitionInfo


_FIELDS = (
    *fields.plain("resource_id", "name", "namespace", "version", "fingerprint"),
    *fields.words("profile", Profile),
    *fields.times("deployed_at", "deleted_at"),
    *fields.json_texts("tags"),
    fields.Field("decisions", list, tuple),
)

_KEPT: Kept[DmnDefinition] = Kept(KEPT_MAX)
# The definition that a decision has for the processes of one deployment.
_BOUND: Kept[int] = Kept(KEPT_MAX)


def deploy(
    store: Table, deployment: DmnDeployment, *, now: datetime, token: str
) -> tuple[DmnDefinitionInfo, bool]:
    """Make a file known as the next version of its resource id; say whether it is new.

    One that is equal to the latest version is that version. `token` is a fresh random id.
    Raises: TooLarge; Conflict.
    """
    from chalicelib.dmn import codec  # noqa: PLC0415

    info = deployment.info
    names = len(info.decisions) + len(info.tags)
    if names > NAMES_MAX:
        raise TooLarge(
            f"expected at most {NAMES_MAX} decisions and version tags in a file, found {names}"
        )
    key = 0
    for race in range(RACES_MAX):
        pointer = latest.read(store, resource_key(info))
        newest = _newest(store, pointer)
        if newest is not None and newest.fingerprint == info.fingerprint:
            return newest, False
        if not key:
            key = first_key(blocks.take(store)) + 1
            model = codec.to_json(deployment.model).encode()
            chunks.put(store, {(key, table.XML): deployment.xml, (key, table.MODEL): model})
        known = _known(info, key=key, version=pointer.highest + 1, now=now)
        if not isinstance(store.transact(_writes(known, pointer), f"{token[:30]}-{race}"), Refused):
            return known, True
    raise Conflict(f"resource {info.resource_id} was deployed by others {RACES_MAX} times")


def compiled(store: Table, xml: bytes, profile: Profile, until: datetime | None = None) -> Model:
    """Read a DMN file with the deployed files that it imports, by their namespaces.

    Shapes: what is wrong in it is in the model's `problems`; of what was deployed after `until`
        nothing is imported.
    Raises: DmnError.
    """
    from chalicelib import dmn  # noqa: PLC0415 (only deployments and decisions load DMN)

    model = dmn.parse(xml, profile=FEEL)
    wanted = {each.namespace for each in model.definitions[0].imports}
    if not wanted:
        return model
    found: dict[str, DmnDefinitionInfo] = {}
    for info in list_all(store):
        is_early = until is None or info.deployed_at <= until
        if info.profile is profile and info.namespace in wanted and is_early:
            found[info.namespace] = info
    models = [each.model for info in found.values() if (each := get(store, info.key)) is not None]
    return dmn.parse(xml, models, FEEL)


def current_info(store: Table, key: int) -> DmnDefinitionInfo | None:
    """Say what a definition is, unless it was deleted; read consistently."""
    info = _info(store.get(table.definition_key(key, table.DMN_DEFINITIONS)))
    return None if info is None or info.deleted_at is not None else info


def current(store: Table, key: int) -> DmnDefinition | None:
    """Return a definition, unless it was deleted."""
    return None if current_info(store, key) is None else get(store, key)


def get(store: Table, key: int) -> DmnDefinition | None:
    """Return a definition with its model, also one that was deleted, for the decisions that it
    made; from memory if it was read before."""
    definition = _KEPT.get(store, key)
    if definition is None:
        info = _info(store.get(table.definition_key(key, table.DMN_DEFINITIONS)))
        if info is None:
            return None
        own = {name: getattr(info, name) for name in DmnDefinitionInfo.__slots__}
        definition = remember(store, DmnDefinition(model=_model(store, info), **own))
    return definition


def remember(store: Table, definition: DmnDefinition) -> DmnDefinition:
    """Keep a definition in this container's memory, so that it is not read again; return it."""
    return _KEPT.keep(store, definition.key, definition)


def xml(store: Table, key: int) -> bytes:
    """Return the file of a definition that is there, byte for byte."""
    return chunks.read(store, key, table.XML)


def list_all(store: Table, *, with_deleted: bool = False) -> list[DmnDefinitionInfo]:
    """Return all definitions, later versions after earlier ones, read consistently."""
    infos = map(_info, reading.every(store, Query(LIVE, table.DMN_DEFINITIONS)))
    found = [info for info in infos if info is not None]
    found = [info for info in found if with_deleted or info.deleted_at is None]
    return sorted(found, key=lambda info: (info.deployed_at, info.version, info.key))


def called(store: Table, called: Called) -> DmnDefinition | None:
    """Return the definition that has a decision which a process calls; None if there is none."""
    match called.binding:
        case Binding.LATEST:
            return latest_of(store, called.decision_id, called.profile)
        case Binding.VERSION_TAG:
            return tagged(store, called.decision_id, called.version_tag or "", called.profile)
        case Binding.DEPLOYMENT:
            return _of_deployment(store, called)


def find(
    store: Table, decision_id: str, profile: Profile, tag: str | None, resource_id: str | None
) -> DmnDefinition | None:
    """Return the latest definition that has a decision, with a version tag or with any.

    Shapes: `resource_id` None lets any file have it.
    """
    if resource_id is None:
        if tag is None:
            return latest_of(store, decision_id, profile)
        return tagged(store, decision_id, tag, profile)
    found = [
        info.key
        for info in list_all(store)
        if (info.resource_id, info.profile) == (resource_id, profile)
        and decision_id in info.decisions
        and tag in (None, info.tags.get(decision_id))
    ]
    return get(store, found[-1]) if found else None


def latest_of(store: Table, decision_id: str, profile: Profile) -> DmnDefinition | None:
    """Return the latest definition that has a decision, read consistently."""
    if len(decision_id) > NAME_MAX:  # nobody deployed it, and DynamoDB has no key of that length
        return None
    return _pointed(store, decision_key(profile, decision_id))


def tagged(store: Table, decision_id: str, tag: str, profile: Profile) -> DmnDefinition | None:
    """Return the latest definition that has a decision with a version tag."""
    if max(len(decision_id), len(tag)) > NAME_MAX:
        return None
    return _pointed(store, decision_key(profile, decision_id, tag))


def _of_deployment(store: Table, called: Called) -> DmnDefinition | None:
    """Return the definition that was a decision's latest when the process was deployed.

    DMN files have a deployment of their own, so what counts is the time. It changes only if that
    definition is deleted.
    """
    bound = _BOUND.get(store, (called.definition_key, called.decision_id))
    if bound is None or current_info(store, bound) is None:
        process = definitions.get(store, called.definition_key)
        found = [
            info.key
            for info in list_all(store)
            if info.profile is called.profile
            and called.decision_id in info.decisions
            and process is not None
            and info.deployed_at <= process.deployed_at
        ]
        if not found:
            return None
        bound = _BOUND.keep(store, (called.definition_key, called.decision_id), found[-1])
    return get(store, bound)


def _pointed(store: Table, place: ItemKey) -> DmnDefinition | None:
    pointer = store.get(place)
    return None if pointer is None else get(store, int(str(pointer["definition_key"])))


def _model(store: Table, info: DmnDefinitionInfo) -> Model:
    """Read the compiled model; one compiled by another version of us is compiled again."""
    from chalicelib.dmn import codec  # noqa: PLC0415

    try:
        return codec.from_json(chunks.read(store, info.key, table.MODEL).decode())
    except codec.UnknownFormat:
        return compiled(store, xml(store, info.key), info.profile, info.deployed_at)


def _info(item: Item | None) -> DmnDefinitionInfo | None:
    if item is None:
        return None
    return DmnDefinitionInfo(key=int(str(item["sk"])), **fields.read(_FIELDS, item))


def _newest(store: Table, pointer: Latest) -> DmnDefinitionInfo | None:
    return None if pointer.definition_key is None else current_info(store, pointer.definition_key)


def _known(info: DmnDefinitionInfo, *, key: int, version: int, now: datetime) -> DmnDefinitionInfo:
    own = {name: getattr(info, name) for name in DmnDefinitionInfo.__slots__}
    return DmnDefinitionInfo(**{**own, "key": key, "version": version, "deployed_at": now})


def _writes(info: DmnDefinitionInfo, pointer: Latest) -> list[Write]:
    """Return what makes a definition known, if *latest* is as it was read.

    The decisions' own pointers are just put: of two files that have the same decision the one
    that is deployed later has it.
    """
    named: Item = {"definition_key": info.key, "version": info.version}
    place = table.definition_key(info.key, table.DMN_DEFINITIONS)
    moved = latest.attributes(latest.moved_on(pointer, info.key))
    return [
        Put(resource_key(info), moved, latest.as_read(pointer)),
        Put(place, fields.write(_FIELDS, info), (Absent("pk"),)),
        *(Put(each, named) for each in pointers(info)),
    ]


def pointers(info: DmnDefinitionInfo) -> Iterator[ItemKey]:
    """Yield where the latest of each decision of a definition is named, and that of each tag."""
    for id_ in info.decisions:
        yield decision_key(info.profile, id_)
    for id_, tag in info.tags.items():
        yield decision_key(info.profile, id_, tag)


def resource_key(info: DmnDefinitionInfo) -> ItemKey:
    """Return where the latest version of a definition's file is named."""
    return table.latest_key(f"{table.DMN}{info.profile.value}", info.resource_id)


def decision_key(profile: Profile, decision_id: str, tag: str | None = None) -> ItemKey:
    """Return where the latest definition of a decision is named, or of it with a tag."""
    named = f"{table.DECIDING}{profile.value}"
    if tag is None:
        return table.latest_key(named, decision_id)
    return table.tag_key(named, decision_id, tag)
