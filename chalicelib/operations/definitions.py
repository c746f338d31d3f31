"""Process definitions: deployed, read, listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.bpmn.fingerprint import fingerprint
from chalicelib.bpmn.model import EventType, Process
from chalicelib.delivery.bells import BPMN
from chalicelib.delivery.promise import TYPES_MAX, ensure_queue, job_queue
from chalicelib.engine.start_timers import StartTimer
from chalicelib.errors import Reason, Rejected, TooLarge
from chalicelib.operations.attempts import unfailing
from chalicelib.operations.moments import moment
from chalicelib.operations.start_timers import compiled, promise_starts, starts_again
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import definitions, deletions, subscriptions
from chalicelib.store.definitions import Definition, DefinitionInfo, Deployed, Deployment, New
from chalicelib.store.lists import Cut, Listed
from chalicelib.store.subscriptions import Starter


@dataclass(frozen=True, slots=True)
class WantedDefinitions:
    """Which definitions to list; `search` is a part of the id or the name, in any case.

    Shapes: an empty set of keys or of process ids asks nothing.
    """

    bpmn_process_id: str | None = None
    search: str | None = None
    only_latest: bool = False
    keys: frozenset[int] = frozenset()
    bpmn_process_ids: frozenset[str] = frozenset()
    profile: Profile | None = None


DEFINITION_ORDERS: Mapping[str, Callable[[DefinitionInfo], Any]] = {
    "key": lambda found: found.key,
    "version": lambda found: (found.version, found.key),
    "bpmn_process_id": lambda found: (found.bpmn_process_id, found.key),
    "name": lambda found: (found.name or "", found.key),
}


def create_process_definition(ports: Ports, xml: bytes, profile: Profile) -> Deployed:
    """Deploy every executable process of a BPMN file, and make the queues of its job types.

    Raises: Rejected for a model that is wrong or cannot be run, TooLarge, Conflict.
    """
    now = ports.clock.now()
    processes, starts = compiled(xml, profile, moment(ports))
    queues = _new_queues(ports, processes, profile)
    _note_starters(ports, processes, profile)
    deployed = definitions.deploy(
        ports.table,
        Deployment(xml, fingerprint(xml), processes, profile, starts),
        now=now,
        token=ports.chance.id(),
        promise=lambda new: promise_starts(ports, new, starts),
    )
    for queue in queues:
        with unfailing(f"queue {queue} is made"):  # else the first job's promise makes it
            ensure_queue(ports, queue)
    return deployed


def delete_process_definition(ports: Ports, key: int) -> None:
    """Delete a version: it starts nothing any more; instances of it go on.

    If it was the latest, the one before it is again, with its start events, timers from now on.
    Raises: Rejected(NOT_FOUND); Conflict.
    """

    def succeed(before: DefinitionInfo, generation: int) -> Mapping[str, StartTimer]:
        definition = definitions.get(ports.table, before.key)
        assert definition is not None, f"definition {before.key} is deployed"
        timers = starts_again(definition.process, moment(ports))
        promise_starts(ports, [New(before, generation)], {before.bpmn_process_id: timers})
        return timers

    now, token = ports.clock.now(), ports.chance.id()
    if not deletions.delete(ports.table, key, now=now, token=token, succeed=succeed):
        raise not_found(key)


def get_process_definition(ports: Ports, key: int) -> tuple[Definition, bytes]:
    """Return a definition and the file it came from. Raises: Rejected(NOT_FOUND)."""
    definition = definitions.current(ports.table, key)
    xml = definitions.xml(ports.table, key)
    if definition is None or xml is None:
        raise not_found(key)
    return definition, xml


def get_process_definitions(
    ports: Ports, wanted: WantedDefinitions, cut: Cut
) -> Listed[DefinitionInfo]:
    """Return a page of the definitions."""
    found = find_all(ports, wanted)
    found.sort(key=DEFINITION_ORDERS[cut.sort_by], reverse=not cut.ascending)
    return cut.page_of(found)


def find_all(ports: Ports, wanted: WantedDefinitions) -> list[DefinitionInfo]:
    """Return all definitions that are asked for, later versions after earlier ones."""
    found = definitions.list_all(ports.table)
    if wanted.only_latest:
        found = list({(info.bpmn_process_id, info.profile): info for info in found}.values())
    return [info for info in found if _matches(info, wanted)]


def version_of(ports: Ports, process_id: str, version: int, profile: Profile) -> DefinitionInfo:
    """Return one version of a process. Raises: Rejected(NOT_FOUND)."""
    wanted = WantedDefinitions(bpmn_process_id=process_id, profile=profile)
    for info in find_all(ports, wanted):
        if info.version == version:
            return info
    raise Rejected(Reason.NOT_FOUND, f"process {process_id} has no version {version}")


def require(ports: Ports, key: int) -> Definition:
    """Return a definition that was not deleted. Raises: Rejected(NOT_FOUND)."""
    definition = definitions.current(ports.table, key)
    if definition is None:
        raise not_found(key)
    return definition


def not_found(key: int, more: str = "") -> Rejected:
    """Return the refusal of a key that names no definition, with more to be said."""
    return Rejected(Reason.NOT_FOUND, f"no process definition with key {key} was found{more}")


def _matches(info: DefinitionInfo, wanted: WantedDefinitions) -> bool:
    if wanted.bpmn_process_id not in (None, info.bpmn_process_id):
        return False
    if wanted.profile not in (None, info.profile):
        return False
    if wanted.keys and info.key not in wanted.keys:
        return False
    if wanted.bpmn_process_ids and info.bpmn_process_id not in wanted.bpmn_process_ids:
        return False
    searched = (wanted.search or "").casefold()
    return searched in info.bpmn_process_id.casefold() or searched in (info.name or "").casefold()


def _note_starters(ports: Ports, processes: Sequence[Process], profile: Profile) -> None:
    """Note what may start the processes before they are there; it harms nobody if they fail."""
    for process in processes:
        for kind in (EventType.MESSAGE, EventType.SIGNAL):
            for name in process.started_by(kind):
                starter = Starter(profile, process.id)
                subscriptions.put_starter(ports.table, kind, name, starter)
        if process.starters(EventType.CONDITIONAL):
            starter = Starter(profile, process.id)
            subscriptions.put_starter(
                ports.table, EventType.CONDITIONAL, subscriptions.ANY_NAME, starter
            )


def _new_queues(ports: Ports, processes: Sequence[Process], profile: Profile) -> list[str]:
    """Return the job queues that are to be made, which a worker may subscribe to before the first
    job is there. Raises: TooLarge beyond TYPES_MAX."""
    wanted = {job_queue(ports, BPMN, type_, profile) for type_ in _literal_types(processes)}
    if not wanted:
        return []
    known = ports.queues.names()
    new = sorted(wanted - set(known))
    if new and len(known) + len(new) > TYPES_MAX:
        raise TooLarge(
            f"expected at most {TYPES_MAX} job types, found {len(known) + len(new)}, of which "
            f"{len(new)} are new"
        )
    return new


def _literal_types(processes: Iterable[Process]) -> Iterable[str]:
    for process in processes:
        elements = process.elements.values()
        types = [listener.type for listener in process.listeners]
        types += [listener.type for element in elements for listener in element.listeners]
        types += [element.job.type for element in elements if element.job is not None]
        yield from (type_.text for type_ in types if not type_.is_feel)
