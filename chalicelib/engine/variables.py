"""Variables: what an element sees, what its mappings make, and where results go.

Each instance owns a scope, and so does each subprocess in it. ZenBPM's subprocess starts from a
copy of what it could see and keeps what happens inside to itself; elsewhere a subprocess looks
through to the scopes around it, and what is set climbs to the nearest scope that has the name.

Source: contracts/zenbpm.md 4.3; contracts/bpmn.md 3.1 (variable rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import SCOPES, Kind
from chalicelib.engine import lifecycle
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import show
from chalicelib.engine.state import Stage
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.feel.errors import FeelError
from chalicelib.json_text import JsonObject, JsonValue

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import IoPlan
    from chalicelib.engine.plans import Node


def live_scope(draft: Draft, key: int | None) -> int:
    """Return the scope that a command names: the instance, a subprocess, or the body of an activity
    that repeats. Raises: Rejected(NOT_FOUND) if it is not live."""
    if key is None or key == draft.key:
        return draft.key
    element = draft.live.get(key)
    node = None if element is None or element.loop else draft.node_of(element)
    if node is None or not (node.is_body or node.kind in SCOPES):
        raise lifecycle.no_such("process instance", key)
    return key


def chain(draft: Draft, scope: int) -> list[int]:
    """Return a scope and those around it, the instance's own last."""
    scopes = [scope]
    while scope != draft.key:
        scope = draft.live[scope].scope
        scopes.append(scope)
    return scopes


def looked_through(draft: Draft, scope: int) -> list[int]:
    """Return the scopes whose variables can be seen in a scope, itself first."""
    if not draft.rules.sees_snapshot:
        return chain(draft, scope)
    scopes = [scope]
    while (outer := _passes_on(draft, scopes[-1])) is not None:
        scopes.append(outer)
    return scopes


def visible(draft: Draft, scope: int) -> JsonObject:
    """Return the variables that can be seen in a scope; the caller does not change them."""
    if scope == draft.key:
        return draft.values(scope)
    if draft.rules.sees_snapshot:
        own = draft.values(scope)
        outer = _passes_on(draft, scope)
        return own if outer is None else {**visible(draft, outer), **own}
    seen: JsonObject = {}
    for outer in reversed(chain(draft, scope)):
        seen.update(draft.values(outer))
    return seen


def merge(draft: Draft, scope: int, values: JsonObject) -> None:
    """Set variables where they belong: in the nearest scope that has the name, else at the top."""
    if scope == draft.key:
        draft.assign(scope, values)
        return
    if draft.rules.sees_snapshot:
        outer = _passes_on(draft, scope)
        if outer is None or draft.live[scope].loop:  # an iteration keeps what it made
            draft.assign(scope, values)
            return
        own = draft.values(scope)
        draft.assign(scope, {name: value for name, value in values.items() if name in own})
        merge(draft, outer, {name: value for name, value in values.items() if name not in own})
        return
    scopes = chain(draft, scope)
    for owner in scopes:
        here = {n: v for n, v in values.items() if owner == draft.key or n in draft.values(owner)}
        draft.assign(owner, here)
        values = {name: value for name, value in values.items() if name not in here}


def _passes_on(draft: Draft, scope: int) -> int | None:
    """Return the scope around one that is looked through in every profile: a body, or an
    activation in an ad-hoc subprocess."""
    if scope == draft.key:
        return None
    element = draft.live[scope]
    node = draft.node_of(element)
    return element.scope if node.is_body or node.kind is Kind.AD_HOC_ACTIVATION else None


def inputs_of(draft: Draft, node: Node, scope: int) -> JsonObject:
    """Compute the local variables that an element's input mappings and listeners make.

    Raises: Stuck(IO_MAPPING_ERROR).
    """
    if not node.inputs:
        return dict(draft.handed) if draft.handed else {}
    seen = visible(draft, scope)
    base = seen if draft.rules.sees_snapshot else {}
    made = _map(draft, node.inputs, seen, base, f"input mappings of {node.id}")
    return {**made, **draft.handed}


def seen_inside(draft: Draft, node: Node, scope: int) -> JsonObject:
    """Return what an element sees: the variables of its scope and what its inputs make of them.

    Raises: Stuck(IO_MAPPING_ERROR).
    """
    return {**visible(draft, scope), **inputs_of(draft, node, scope)}


def local_of(node: Node, seen: JsonObject, given: JsonObject | None) -> JsonObject:
    """Return, of what an element saw, the variables that its inputs made, and those that its
    listeners gave it."""
    return {**{name: seen[name] for name in node.local_names if name in seen}, **(given or {})}


def outputs_of(
    draft: Draft, node: Node, scope: int, local: JsonObject, produced: JsonObject
) -> JsonObject | None:
    """Compute what an element hands on by its output mappings; None if it has none.

    Shapes: `local` are the variables its input mappings made, `produced` what its work gave; a
        nested target is set inside of what the scope has already.
    Raises: Stuck(IO_MAPPING_ERROR), at the stage of completing.
    """
    if not node.outputs:
        return {} if node.late else None
    seen = visible(draft, scope)
    return map_out(draft, node, node.outputs, {**seen, **local, **produced}, seen)


def map_out(
    draft: Draft, node: Node, mappings: Iterable[IoPlan], seen: JsonObject, base: JsonObject
) -> JsonObject:
    """Run output mappings of an element over what they see; nested targets are set inside of what
    is there. Raises: Stuck(IO_MAPPING_ERROR), at the stage of completing."""
    try:
        return _map(draft, mappings, seen, base, f"output mappings of {node.id}")
    except Stuck as stuck:
        stuck.stage = Stage.COMPLETING
        raise


def unmapped(draft: Draft, local: JsonObject, produced: JsonObject) -> JsonObject:
    """Return what leaves a job or called process that has no output mapping.

    A name that an input mapping or a listener made is local: what is set under it stays.
    """
    if not draft.rules.outputs_leave:
        return {}
    if not local:
        return produced
    return {name: value for name, value in produced.items() if name not in local}


def _map(
    draft: Draft,
    mappings: Iterable[IoPlan],
    seen: Mapping[str, JsonValue],
    base: Mapping[str, JsonValue],
    where: str,
) -> JsonObject:
    """Run mappings one after the other; where the profile says so, each sees the earlier ones."""
    in_order = not draft.rules.sees_snapshot
    made: JsonObject = {}
    for mapping in mappings:
        try:
            value = mapping.compute({**seen, **made} if in_order and made else seen, draft.moment)
        except FeelError as error:
            raise Stuck(
                ErrorType.IO_MAPPING_ERROR, f"{where}, target {'.'.join(mapping.path)}: {error}"
            ) from error
        _set(made, base, mapping.path, value, where)
    return made


def _set(
    made: JsonObject,
    base: Mapping[str, JsonValue],
    path: tuple[str, ...],
    value: JsonValue,
    where: str,
) -> None:
    """Put a value at a path, keeping what is beside it; nothing that was there is changed."""
    name = path[0]
    if len(path) == 1:
        made[name] = value
        return
    top = made[name] if name in made else base.get(name)
    made[name] = _with(top, path, 1, value, where)


def _with(
    old: JsonValue, path: tuple[str, ...], depth: int, value: JsonValue, where: str
) -> JsonValue:
    """Return a copy of a context in which the rest of the path has the value."""
    if depth == len(path):
        return value
    if old is not None and not isinstance(old, dict):
        raise Stuck(
            ErrorType.IO_MAPPING_ERROR,
            f"{where}, target {'.'.join(path)}: expected a context at "
            f"{'.'.join(path[:depth])}, found {show(old)}",
        )
    name = path[depth]
    inner = None if old is None else old.get(name)
    return {**(old or {}), name: _with(inner, path, depth + 1, value, where)}
