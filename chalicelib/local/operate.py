"""What an operator does at the command line: incidents and their end, API keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chalicelib.access import Role
from chalicelib.errors import Conflict, Rejected
from chalicelib.local.terminal import columns, say, warn
from chalicelib.operations import api_keys, incidents, instances
from chalicelib.operations.incidents import Mended
from chalicelib.ports import Ports
from chalicelib.store.incidents import OpenIncident
from chalicelib.store.lists import Cut, Listed

SHOWN_MAX = 1_000  # incidents of one listing
MESSAGE_MAX = 100  # characters of an incident's message in one line
HEAD = ("incident", "process", "instance", "element", "job", "since", "message")


def show_incidents(ports: Ports, bpmn_process_id: str | None) -> int:
    """Print the open incidents, the newest first; return 0."""
    listed = incidents.get_open_incidents(ports, bpmn_process_id, Cut(size=SHOWN_MAX))
    for line in _lines(listed):
        say(line)
    return 0


def resolve_incidents(ports: Ports, keys: Sequence[int], mended: Mended) -> int:
    """Resolve incidents one after the other, and print what came of each; 1 if any stays open.

    Shapes: the key of an instance stands for all that are open in it.
    """
    left = 0
    for key in [each for named in keys for each in _meant(ports, named)]:
        try:
            incidents.resolve_incident(ports, key, mended)
        except (Rejected, Conflict) as error:
            left += 1
            warn(f"{key}  {error}")
        else:
            say(f"{key}  resolved")
    return 1 if left else 0


def _meant(ports: Ports, key: int) -> Sequence[int]:
    """Return the incidents that a key means: its own, or the open ones of an instance."""
    try:
        instances.get_whole_instance(ports, key)
    except Rejected:
        return [key]
    found = incidents.get_incidents(ports, key, None, Cut(size=SHOWN_MAX))
    open_keys = sorted(each.key for each in found.items if each.resolved_at is None)
    if not open_keys:
        say(f"{key}  no open incidents")
    return open_keys


def create_key(ports: Ports, name: str, role: str) -> int:
    """Make a key and print it alone, so that it can be piped; return 0. Raises: Rejected."""
    say(api_keys.create_key(ports, name, Role(role)))
    warn(f"the key of {name}, a {role}: keep it, for it is shown this once")
    return 0


def show_keys(ports: Ports) -> int:
    """Print all keys, the oldest first, by what is kept of them; return 0."""
    keys = api_keys.list_keys(ports)
    rows = [
        (key.name, key.role.value, key.id, key.created_at.isoformat(timespec="seconds"))
        for key in keys
    ]
    for line in columns([("name", "role", "id", "made"), *rows]) if keys else ["no keys"]:
        say(line)
    return 0


def revoke_key(ports: Ports, name_or_id: str) -> int:
    """Revoke a key, and say when that holds everywhere; return 0. Raises: Rejected."""
    key = api_keys.revoke_key(ports, name_or_id)
    seconds = int(api_keys.REMEMBERED.total_seconds())
    say(f"revoked {key.name}, a {key.role}; within {seconds} s it opens nothing any more")
    return 0


def _lines(listed: Listed[OpenIncident]) -> Iterator[str]:
    if not listed.items:
        yield "no open incidents"
        return
    yield from columns([HEAD, *map(_row, listed.items)])
    more = listed.total - len(listed.items)
    if more > 0 or listed.is_floor:
        yield f"and {'at least ' if listed.is_floor else ''}{max(more, 0)} more"


def _row(found: OpenIncident) -> tuple[str, ...]:
    incident, root = found.incident, found.root
    message = " ".join(incident.message.split())
    return (
        str(incident.key),
        root.bpmn_process_id,
        str(root.key),
        incident.element_id,
        "" if incident.job_key is None else str(incident.job_key),
        incident.created_at.isoformat(timespec="seconds"),
        message if len(message) <= MESSAGE_MAX else f"{message[: MESSAGE_MAX - 1]}…",
    )
