"""DMN files: deployed, read, listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from chalicelib.bpmn.fingerprint import fingerprint
from chalicelib.bpmn.model import FILE_BYTES_MAX, NAME_MAX
from chalicelib.errors import Reason, Rejected, TooLarge
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import dmn_definitions, dmn_deletions
from chalicelib.store.dmn_definitions import DmnDefinition, DmnDefinitionInfo, DmnDeployment
from chalicelib.store.lists import Cut, Listed

if TYPE_CHECKING:
    from chalicelib.dmn import Model

PROBLEMS_MAX = 5  # that one refusal tells of


@dataclass(frozen=True, slots=True)
class WantedDmnDefinitions:
    """Which definitions to list.

    Shapes: `name` is a part of the name, `search` a part of the id or the name, in any case.
    """

    resource_id: str | None = None
    name: str | None = None
    search: str | None = None
    only_latest: bool = False


DMN_DEFINITION_ORDERS: Mapping[str, Callable[[DmnDefinitionInfo], Any]] = {
    "key": lambda found: found.key,
    "version": lambda found: (found.version, found.key),
    "resource_id": lambda found: (found.resource_id, found.key),
    "name": lambda found: (found.name, found.key),
}


def create_dmn_resource_definition(
    ports: Ports, xml: bytes, profile: Profile
) -> tuple[DmnDefinitionInfo, bool]:
    """Deploy a DMN file as the next version of its id; say whether it is new.

    Raises: Rejected for a model in which anything is wrong, naming the element, TooLarge, Conflict.
    """
    if len(xml) > FILE_BYTES_MAX:
        raise TooLarge(f"expected a model of at most {FILE_BYTES_MAX} bytes, found {len(xml)}")
    now = ports.clock.now()
    model, info = _read(ports, xml, profile, now)
    problems = [*_problems(model, info)]
    if problems:
        more = len(problems) - PROBLEMS_MAX
        shown = [*problems[:PROBLEMS_MAX], *([f"and {more} more"] if more > 0 else [])]
        raise Rejected(Reason.INVALID_ARGUMENT, "; ".join(shown))
    deployment = DmnDeployment(xml, model, info)
    return dmn_definitions.deploy(ports.table, deployment, now=now, token=ports.chance.id())


def get_dmn_resource_definition(ports: Ports, key: int) -> tuple[DmnDefinition, bytes]:
    """Return a definition and the file it came from. Raises: Rejected(NOT_FOUND)."""
    definition = dmn_definitions.current(ports.table, key)
    if definition is None:
        raise _not_found(key)
    return definition, dmn_definitions.xml(ports.table, key)


def delete_dmn_resource_definition(ports: Ports, key: int) -> None:
    """Delete a version of a file: its decisions are made by the latest that has them otherwise.

    Raises: Rejected(NOT_FOUND), also TooLarge; Conflict.
    """
    now, token = ports.clock.now(), ports.chance.id()
    if not dmn_deletions.delete(ports.table, key, now=now, token=token):
        raise _not_found(key)


def _not_found(key: int) -> Rejected:
    message = f"no DMN resource definition with key {key} was found"
    return Rejected(Reason.NOT_FOUND, message)


def get_dmn_resource_definitions(
    ports: Ports, wanted: WantedDmnDefinitions, cut: Cut
) -> Listed[DmnDefinitionInfo]:
    """Return a page of the definitions."""
    found = dmn_definitions.list_all(ports.table)
    if wanted.only_latest:
        found = list({(info.resource_id, info.profile): info for info in found}.values())
    found = [info for info in found if _matches(info, wanted)]
    found.sort(key=DMN_DEFINITION_ORDERS[cut.sort_by], reverse=not cut.ascending)
    return cut.page_of(found)


def _read(
    ports: Ports, xml: bytes, profile: Profile, now: datetime
) -> tuple[Model, DmnDefinitionInfo]:
    """Read a file, and what it will be as a definition. Raises: Rejected if it is no model."""
    from chalicelib import dmn  # noqa: PLC0415 (only deployments and decisions load DMN)
    from chalicelib.dmn.model import Decision, DecisionService  # noqa: PLC0415
    from chalicelib.dmn.version_tags import version_tags  # noqa: PLC0415

    try:
        model = dmn_definitions.compiled(ports.table, xml, profile)
    except dmn.DmnError as error:
        details = {"is_malformed": True} if isinstance(error, dmn.DmnNotXml) else None
        raise Rejected(Reason.INVALID_ARGUMENT, str(error), details) from error
    own = model.definitions[0]
    decisions = tuple(n.id for n in own.nodes if isinstance(n, Decision | DecisionService))
    return model, DmnDefinitionInfo(
        key=0,
        resource_id=own.id or own.name,
        name=own.name or own.id,
        namespace=own.namespace,
        version=0,
        profile=profile,
        deployed_at=now,
        fingerprint=fingerprint(xml),
        decisions=decisions,
        tags={id_: tag for id_, tag in version_tags(xml).items() if id_ in decisions},
    )


def _matches(info: DmnDefinitionInfo, wanted: WantedDmnDefinitions) -> bool:
    if wanted.resource_id not in (None, info.resource_id):
        return False
    name, searched = info.name.casefold(), (wanted.search or "").casefold()
    is_named = (wanted.name or "").casefold() in name
    return is_named and (searched in info.resource_id.casefold() or searched in name)


def _problems(model: Model, info: DmnDefinitionInfo) -> Iterator[str]:
    """Yield what is wrong with a file."""
    if not info.resource_id:
        yield "definitions: expected an attribute id or name, found neither"
    if not info.decisions:
        yield "definitions: expected a decision, found none"
    for name in (info.resource_id, *info.decisions, *info.tags.values()):
        if len(name) > NAME_MAX:
            cut = f"{name[:50]}…"
            yield f"{cut}: expected at most {NAME_MAX} characters, found {len(name)}"
    for element, message in model.problems:
        yield f"{element}: {message}" if element else message
