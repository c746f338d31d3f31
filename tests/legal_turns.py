"""What holds of every turn: records move along the tables' edges, and what waits is counted, has
its records, and is where the model has it."""

from __future__ import annotations

from chalicelib.bpmn.model import Kind, Process
from chalicelib.engine.bonds import UNDOING
from chalicelib.engine.lifecycle import INSTANCE_LEADS_TO, JOB_LEADS_TO
from chalicelib.engine.state import InstanceState, Job, Root
from chalicelib.engine.turn import Turn


def check(turn: Turn, process: Process) -> None:
    """Check what holds of every turn: records move along the tables' edges, and what waits is
    counted and has its records."""
    before, after = turn.before, turn.after
    old = {} if before is None else before.records
    for key, record in after.records.items():
        earlier = old.get(key)
        assert (earlier is record) == (key not in turn.guards), (earlier, record)
        if isinstance(record, Job) and isinstance(earlier, Job):
            edges = JOB_LEADS_TO[earlier.state] | {earlier.state}
            assert record.state in edges, (earlier, record)
    if before is not None:
        assert after.root.version == before.root.version + 1
        edges_of_state = INSTANCE_LEADS_TO[before.root.state] | {before.root.state}
        assert after.root.state in edges_of_state
        assert all(key in turn.guards for key in old.keys() - after.records.keys())
    check_scopes(after.root, process)
    check_tokens(after.root, process)


def check_scopes(root: Root, process: Process) -> None:
    """Check that what is live, or about to be entered, is in an instance of the scope that the
    model has it in: of that scope, or, if it repeats, of its own body. Handlers run in what asked
    for them, and what only waits for its end may be moved outwards."""
    live = [e for e in root.live.values() if not (e.is_ending or e.is_listening)]
    places = [(e.element_id, e.scope) for e in live]
    for element_id, scope in (*places, *((move.element_id, move.scope) for move in root.agenda)):
        around = process.id if scope == root.key else root.live[scope].element_id
        if element_id in (process.id, around) or around == process.elements[element_id].scope:
            continue
        element = process.elements[around]
        assert element.event_type in UNDOING or element.kind is Kind.REOPENED, (element_id, around)


def check_tokens(root: Root, process: Process) -> None:
    """Check that each scope's count is what waits, moves and stands at joins in it."""
    if root.purges:
        return
    counted = {root.key: 0, **{key: 0 for key, e in root.live.items() if e.tokens}}
    for element in root.live.values():
        if element.is_listening:
            continue
        counted[element.scope] += 1
    for move in root.agenda:
        if move.scope in root.bodies or process.elements[move.element_id].ad_hoc is not None:
            counted[move.scope] += 1  # it begins one iteration, or activation, after the other
            continue
        flows = len(process.elements[move.element_id].outgoing)
        counted[move.scope] += flows - move.position if move.position else 1
    for (scope, _), waiting in root.joins.items():
        counted[scope] += waiting.arrived.bit_count() + sum(waiting.more.values())
    expected = {root.key: root.tokens, **{k: e.tokens for k, e in root.live.items() if e.tokens}}
    if root.state in (InstanceState.ACTIVE, InstanceState.TERMINATING):
        assert counted == expected, (counted, expected)
    else:
        assert not (root.live or root.agenda or root.joins or root.incident_count), root
