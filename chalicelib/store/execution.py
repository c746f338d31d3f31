"""The compact execution state of a root, as one short JSON text.

Every turn writes it, and the first kB of an item is the cheapest, so keys are told relative to
the instance's own, times relative to its start, and what has its default is left out:

    {"tokens": n, "elements": n, "incidents": n, "next": offset, "blocks": [...],
     "live":   [[key, element id, scope, created, tokens, job, [timers], incident,
                [subscriptions], loop, listens, child, ends, {event id: [times]}, listener], ...],
     "joins":  [[scope, gateway id, arrived in hexadecimal, {flow: tokens}, used], ...],
     "bodies": [[key, total, completed, size, owns variables, told, results as JSON], ...],
     "done":   [[scope, activity id, inside, times, kept, ...], ...],
     "agenda": [[element id, scope, flow id, position, key], ...],
     "purges": [[scope, move, is withdrawn, spared], ...],
     "parent": [instance, scope, depth, [errors], [escalations], escalated, first, [thrown]]}

Lists are cut behind the last entry that is not its default (0, null, empty); an untouched
iteration has a negative loop. `"format": n` says what an older reader would misread; it is left
out while it is 1, for most turns pay by the byte.
A long text is stored compressed, as its rows are alike: 64 iterations take 900 bytes, not 4,000.
"""

from __future__ import annotations

import json
import zlib
from datetime import datetime
from typing import Any

from chalicelib.engine.keys import block_of
from chalicelib.engine.state import (
    Completed,
    ElementInstance,
    Join,
    Move,
    Parent,
    Progress,
    Purge,
    Root,
)
from chalicelib.ports import Attribute
from chalicelib.store import fields
from chalicelib.store.moments import from_ms, to_ms

# Rises with every change that an older reader would misread; 2 since bodies may have results.
FORMAT = 2

PACKED_FROM = 600  # bytes; with what else a root has, a longer one would cost a second unit

Row = list[Any]


class UnknownFormat(ValueError):
    """A newer version wrote this state, and it may only be read by that."""


def pack(text: str) -> str | bytes:
    """Return a text as an item has it: compressed if it is long."""
    written = text.encode()
    return text if len(written) <= PACKED_FROM else zlib.compress(written)


def unpack(stored: Attribute) -> str:
    """Return the text of what an item has."""
    return zlib.decompress(stored).decode() if isinstance(stored, bytes) else str(stored)


def to_text(root: Root) -> str:
    """Write what a root says of its execution."""
    origin, began = root.key, to_ms(root.created_at)
    state: dict[str, Any] = {
        "tokens": root.tokens,
        "elements": root.element_count,
        "incidents": root.incident_count,
        "next": root.next_offset,
        "live": [_element_row(element, origin, began) for element in root.live.values()],
        "joins": [
            _join_row(scope - origin, gateway, join)
            for (scope, gateway), join in root.joins.items()
        ],
        "bodies": [[key - origin, *_progress_row(body)] for key, body in root.bodies.items()],
        "done": [_done_row(done, origin, times) for done, times in root.completed.items()],
        "agenda": [_move_row(move, origin) for move in root.agenda],
        "purges": [_purge_row(purge, origin) for purge in root.purges],
    }
    kept = {name: value for name, value in state.items() if value}
    if any(body.told or body.results is not None for body in root.bodies.values()):
        kept["format"] = FORMAT
    if root.parent is not None:
        kept["parent"] = [root.parent.instance_key - origin, root.parent.scope - origin]
        kept["parent"] += _cut([*root.parent[2:]])
    if root.blocks != (block_of(origin),):
        kept["blocks"] = root.blocks
    return json.dumps(kept, separators=(",", ":"), ensure_ascii=False)


def from_text(text: str, origin: int, created_at: datetime) -> dict[str, Any]:
    """Read it back as the fields of a Root, also what an older version wrote.

    Raises: UnknownFormat for what a newer one wrote: nothing is changed then.
    """
    state, began = json.loads(text), to_ms(created_at)
    if (found := state.get("format", 1)) > FORMAT:
        raise UnknownFormat(f"expected the state of an instance in format {FORMAT}, found {found}")
    live = [_element(row, origin, began) for row in state.get("live", ())]
    return {
        "tokens": state.get("tokens", 0),
        "element_count": state.get("elements", 0),
        "incident_count": state.get("incidents", 0),
        "next_offset": state.get("next", 0),
        "blocks": tuple(state.get("blocks", (block_of(origin),))),
        "live": {element.key: element for element in live},
        "joins": {(origin + row[0], row[1]): _join(row) for row in state.get("joins", ())},
        "bodies": {origin + row[0]: _progress(row[1:]) for row in state.get("bodies", ())},
        "completed": {_done(row, origin): row[3] for row in state.get("done", ())},
        "agenda": tuple(_move(row, origin) for row in state.get("agenda", ())),
        "purges": tuple(_purge(row, origin) for row in state.get("purges", ())),
        "parent": _parent(state["parent"], origin) if "parent" in state else None,
    }


def _done_row(done: Completed, origin: int, times: int) -> Row:
    scope, activity, inside, seen = done
    row: Row = [scope - origin, activity, inside and inside - origin, times]
    return row + [key - origin for key in seen]


def _done(row: Row, origin: int) -> Completed:
    scope, activity, inside, _, *seen = row
    kept = tuple(origin + key for key in seen)
    return Completed(origin + scope, activity, inside and origin + inside, kept)


def _parent(row: Row, origin: int) -> Parent:
    key, scope, depth, errors, escalations, escalated, first, thrown = _filled(row, 8)
    codes = (errors or [], escalations or [])
    counts = (escalated or 0, first or 0)
    return Parent(origin + key, origin + scope, depth or 0, *codes, *counts, thrown or [])


def _progress_row(body: Progress) -> Row:
    results = None if body.results is None else fields.numbered_to_text(body.results)
    return _cut([*body[:-1], results])


def _progress(row: Row) -> Progress:
    total, completed, size, owns, told, results = _filled(row, 6)
    kept = None if results is None else fields.numbered_from_text(results)
    return Progress(total or 0, completed or 0, size or 0, bool(owns), bool(told), kept)


def _cut(row: Row) -> Row:
    while row and not row[-1]:
        row.pop()
    return row


def _filled(row: Row, length: int) -> Row:
    return row + [None] * (length - len(row))


def _element_row(element: ElementInstance, origin: int, began: int) -> Row:
    key, element_id, scope, created_at, tokens, job, timers, incident, names = element[:9]
    loop, listens, child, ending, came, listener, untouched = rest = element[9:]
    row: Row = [key - origin, element_id, scope - origin, to_ms(created_at) - began, tokens]
    row.append(job and job - origin)
    if not (timers or incident or names or any(rest)):
        return _cut(row)  # most elements wait for a job and nothing else
    row += [
        [timer - origin for timer in timers],
        incident and incident - origin,
        [name - origin for name in names],
        -loop if untouched else loop,
        int(listens),
        child and child - origin,
        int(ending),
        {event: list(times) for event, times in came.items()},
        listener and listener - origin,
    ]
    return _cut(row)


def _element(row: Row, origin: int, began: int) -> ElementInstance:
    key, element_id, scope, created, tokens, job = _filled(row, 6)[:6]
    element = ElementInstance(
        origin + key,
        element_id or "",
        origin + (scope or 0),
        from_ms(began + (created or 0)),
        tokens or 0,
        origin + job if job else None,
    )
    return _with_more(element, row, origin) if len(row) > 6 else element


def _with_more(element: ElementInstance, row: Row, origin: int) -> ElementInstance:
    """Add what few elements have: all but a job that they wait for."""
    timers, incident, names, loop, listens, child, ending, came, listener = _filled(row, 15)[6:]
    return element._replace(
        timers=tuple(origin + timer for timer in timers or ()),
        incident=origin + incident if incident else None,
        subscriptions=tuple(origin + name for name in names or ()),
        loop=abs(loop or 0),
        is_listening=bool(listens),
        child=origin + child if child else 0,
        is_ending=bool(ending),
        came={event: tuple(times) for event, times in (came or {}).items()},
        listener=origin + listener if listener else 0,
        is_untouched=(loop or 0) < 0,
    )


def _join_row(scope: int, gateway: str, join: Join) -> Row:
    row: Row = [scope, gateway, f"{join.arrived:x}", dict(join.more)]
    return [*row, f"{join.used:x}"] if join.used else row


def _join(row: Row) -> Join:
    arrived, more, *used = row[2:]
    tokens = {int(flow): count for flow, count in more.items()}
    return Join(int(arrived, 16), tokens, int(used[0], 16) if used else 0)


def _move_row(move: Move, origin: int) -> Row:
    key = move.key and move.key - origin
    return _cut([move.element_id, move.scope - origin, move.flow_id, move.position, key])


def _move(row: Row, origin: int) -> Move:
    element_id, scope, flow_id, position, key = _filled(row, 5)
    return Move(
        element_id, origin + (scope or 0), flow_id, position or 0, origin + key if key else 0
    )


def _purge_row(purge: Purge, origin: int) -> Row:
    catcher = purge.catcher and _move_row(purge.catcher, origin)
    spared = purge.spared and purge.spared - origin
    return _cut([purge.scope - origin, catcher, int(purge.is_withdrawn), spared])


def _purge(row: Row, origin: int) -> Purge:
    scope, catcher, is_withdrawn, spared = _filled(row, 4)
    move = _move(catcher, origin) if catcher else None
    return Purge(origin + (scope or 0), move, bool(is_withdrawn), origin + spared if spared else 0)
