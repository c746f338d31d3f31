"""The plan of a process: its elements with everything resolved that a move would look up.

A plan is made once per process and kept, so a move costs no search by id, no parsing and no
question that the model has already answered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import (
    Element,
    EventType,
    Kind,
    Loop,
    ManyDefinition,
    Process,
    SequenceFlow,
)
from chalicelib.engine import (
    bonds,
    compensation,
    execution_listeners,
    loops,
    many,
    tokens,
)
from chalicelib.engine.decision_plans import DecisionPlan, plan_decision
from chalicelib.engine.draft import SUBSCRIPTION_ACTIONS
from chalicelib.engine.elements import BEHAVIOURS
from chalicelib.engine.expressions import (
    Compute,
    ConditionPlan,
    compile_condition,
    compile_optional,
)
from chalicelib.engine.limits import LIVE_MAX, ROOT_BYTES_MAX
from chalicelib.engine.listener_jobs import Heard
from chalicelib.engine.plan_parts import (
    AdHocPlan,
    CallPlan,
    Flow,
    IoPlan,
    JobPlan,
    LoopPlan,
    ManyPlan,
    NamePlan,
    ScriptPlan,
    TimerPlan,
    ad_hoc_plan,
    call_plan,
    code_plan,
    flow_plan,
    job_plan,
    many_plan,
    mapping_plan,
    name_plan,
    script_plan,
    timer_plan,
)
from chalicelib.engine.reachability import Ways

if TYPE_CHECKING:
    from chalicelib.engine.draft import Draft

PLANS_MAX = 256  # processes kept compiled in one container
PASSED = frozenset(
    (
        *(Kind.START_EVENT, Kind.END_EVENT, Kind.INTERMEDIATE_THROW_EVENT),
        *(Kind.TASK, Kind.MANUAL_TASK),
    )
)
WAITING = frozenset((Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK, Kind.START_EVENT))
JOINING = frozenset((Kind.PARALLEL_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY))
CHOOSING = bonds.JUDGED | {Kind.EXCLUSIVE_GATEWAY}
LIVE_BYTES = 40  # of an element that waits, as the root stores it, beside its id
LIVE_BYTES_MAX = ROOT_BYTES_MAX * 4 // 5

Behaviour = Callable[["Draft", "Node", int, int], None]


@dataclass(slots=True, eq=False)
class Node:
    """One element, ready to run.

    Shapes: `only` is the flow of the usual element, which has one flow out and no condition on
        it; `conditioned` are those that have one, but for the default, and `otherwise` is what an
        exclusive gateway takes if none of these is true; `joins` the places of the incoming flows
        that a join waits for, empty if it is none, `all_arrived` the bits of them all, and `reach`
        those by which a token can still come, by the element it is at (inclusive and complex
        gateways); `link_target` where a link leads; `local_names` the variables that its input
        mappings make; `late` the output mappings of an activity for many that read its results,
        with the last one in; `actions` how many records entering it may write; `waits` the events
        that it waits for, its own or those behind an event-based gateway, which is the `gateway` of
        each of them; what starts an event subprocess `is_waited` for by a listener. An event of
        several definitions has `parts`, each of which knows its place among them. What has
        conditional events on it or in it, or is one, `is_watched`; `conditions` are those that it
        waits for itself. An activity `is_compensable` if a `handler` undoes it, or, from inside,
        its `recovery`; a transaction is left by its `cancel_event`. An activity that repeats
        `is_body` of its rounds, each of which is the `inner` node: the activity itself, with no
        flows and no boundary events. One for many has the scope of `each` between them. Its
        listeners are `heard` by their events, those of its beginning before its own `work`. What is
        over as a path in an ad-hoc subprocess is a `path_of` its plan. What is not left by its
        flows `departs`.
    """

    id: str
    kind: Kind
    element: Element
    enter: Behaviour
    outgoing: tuple[Flow, ...]
    only: Flow | None
    default: Flow | None
    conditioned: tuple[Flow, ...]
    otherwise: Flow | None
    has_conditions: bool
    joins: Mapping[str, int]
    all_arrived: int
    is_complex: bool
    activation: Compute | None
    inputs: tuple[IoPlan, ...]
    outputs: tuple[IoPlan, ...]
    local_names: frozenset[str]
    job: JobPlan | None
    script: ScriptPlan | None
    decision: DecisionPlan | None
    timer: TimerPlan | None
    code: Compute | None
    event_name: NamePlan | None
    actions: int
    late: tuple[IoPlan, ...] = ()
    boundary_throws: tuple[Node, ...] = ()
    waits: tuple[Node, ...] = ()
    gateway: Node | None = None
    boundary_waits: tuple[Node, ...] = ()
    reach: Mapping[str, Ways] = field(default_factory=dict)
    loop: LoopPlan | None = None
    inner: Node | None = None
    is_body: bool = False
    many: ManyPlan | None = None
    each: Node | None = None
    call: CallPlan | None = None
    is_waited: bool = False
    parts: tuple[Node, ...] = ()
    part: int = 0
    conditions: tuple[Node, ...] = ()
    is_watched: bool = False
    condition: ConditionPlan | None = None
    boundary_conditions: tuple[Node, ...] = ()
    is_compensable: bool = False
    handler: str = ""
    recovery: str = ""
    cancel_event: str = ""
    link_target: str = ""
    heard: Heard = field(default_factory=dict)
    work: Behaviour | None = None
    ad_hoc: AdHocPlan | None = None
    path_of: AdHocPlan | None = None
    departs: Behaviour | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A process, ready to run.

    Shapes: `judged` are the joins of which it has to be found out whether more tokens will come;
        `triggers` the start events of event subprocesses, by the id of the scope they stand in,
        and `thrown` those that catch what is thrown there, each definition alone;
        `listened` the scopes in which some of these wait for a timer, a message or a signal;
        `is_watched` says that there are conditional events, `has_ad_hoc` ad-hoc subprocesses;
        `itself` is the process as an element, if there are listeners of it.
    """

    process: Process
    nodes: Mapping[str, Node]
    judged: frozenset[str]
    triggers: Mapping[str, tuple[Node, ...]]
    thrown: Mapping[str, tuple[Node, ...]]
    listened: frozenset[str]
    is_watched: bool
    live_max: int  # elements that may wait before a fork has to
    has_ad_hoc: bool
    itself: Node | None


_plans: OrderedDict[int, Plan] = OrderedDict()


def plan_of(process: Process) -> Plan:
    """Return the plan of a process, made when it is first asked for."""
    plan = _plans.get(id(process))
    if plan is None or plan.process is not process:
        plan = _plans[id(process)] = make_plan(process)
        if len(_plans) > PLANS_MAX:
            _plans.popitem(last=False)
    return plan


def make_plan(process: Process) -> Plan:
    """Resolve a process."""
    nodes = {id_: _node(element, process.flows) for id_, element in process.elements.items()}
    itself = None
    if process.listeners:
        element = Element(process.id, Kind.PROCESS, "", listeners=process.listeners)
        itself = nodes[process.id] = _node(element, {})
    _bind_waits(nodes)
    bonds.bind_compensation(nodes)
    has_ad_hoc = bonds.bind_paths(nodes)
    for node in nodes.values():
        if node.element.loop is not None:
            _repeat(node, node.element.loop)
        elif node.element.many is not None:
            _multiply(process, node, node.element.many)
    longest_id = max((len(id_) for id_ in nodes), default=0)
    judged = bonds.bind_jumps(process, nodes)
    for node in nodes.values():
        node.departs = _departure(node)
    triggers = bonds.bind_triggers(nodes)
    is_watched = bonds.bind_conditions(nodes, triggers)
    listened = {id_ for id_, starts in triggers.items() if any(s.is_waited for s in starts)}
    for id_ in listened & nodes.keys():
        nodes[id_].actions += sum(map(_records_of, bonds.waits_of(triggers[id_])))
    live_max = min(LIVE_MAX, LIVE_BYTES_MAX // (LIVE_BYTES + longest_id))
    thrown = {id_: bonds.throws_of_events(starts) for id_, starts in triggers.items()}
    heard = frozenset(listened)
    return Plan(
        *(process, nodes, judged, triggers, thrown, heard, is_watched, live_max, has_ad_hoc, itself)
    )


def _bind_waits(nodes: Mapping[str, Node]) -> None:
    """Tell elements who listens to them, and which events they wait for."""
    for node in nodes.values():
        if node.element.listeners:
            execution_listeners.bind(node)
        attached = [nodes[id_] for id_ in node.element.boundary_events]
        node.boundary_throws = bonds.throws_of_events(attached)
        node.boundary_waits = bonds.waits_of(attached)
        if node.kind in WAITING:
            node.waits, node.conditions = bonds.waits_of((node,)), bonds.conditions_of((node,))
        elif node.kind is Kind.EVENT_BASED_GATEWAY:
            behind = [nodes[flow.target] for flow in node.outgoing]
            node.waits, node.conditions = bonds.waits_of(behind), bonds.conditions_of(behind)
            for event in behind:
                event.gateway = node
        is_passed = node.kind is Kind.START_EVENT and not node.element.is_parallel
        armed = (*(() if is_passed else node.waits), *node.boundary_waits)
        node.actions += sum(map(_records_of, armed))


def _repeat(node: Node, loop: Loop) -> None:
    """Make of an activity the body of its rounds."""
    _make_body(node)
    condition = compile_optional(loop.condition)
    node.loop = LoopPlan(condition, loop.maximum, loop.test_before)
    node.enter = loops.enter


def _multiply(process: Process, node: Node, definition: ManyDefinition) -> None:
    """Make of an activity the body of many."""
    _make_body(node)
    assert node.inner is not None
    node.inner.actions += 1  # the variables of the iteration
    name = definition.output_collection or ""
    late = [each for each in node.inner.outputs if name in getattr(each.compute, "names", ())]
    node.inner.late = tuple(late)
    node.inner.outputs = tuple(each for each in node.inner.outputs if each not in late)
    node.many = many_plan(process, node.element, definition, late)
    node.each = replace(node.inner, kind=Kind.SUB_PROCESS, is_body=True, many=node.many)
    node.each.inputs = node.each.outputs = ()
    node.each.heard, node.each.ad_hoc = {}, None
    node.each.recovery, node.each.is_compensable = "", False
    node.enter = many.enter
    execution_listeners.bind_body(node, node.inner.heard)


def _make_body(node: Node) -> None:
    """Make of an activity what holds it."""
    node.inner = replace(
        node,
        outgoing=(),
        only=None,
        default=None,
        has_conditions=False,
        boundary_waits=(),
        boundary_throws=(),
        boundary_conditions=(),
        handler="",
        is_compensable=bool(node.recovery),
    )
    node.is_body = True
    node.recovery, node.is_compensable = "", bool(node.handler)
    node.inputs = node.outputs = ()
    node.heard = {}
    node.job = node.script = node.ad_hoc = None
    node.waits = ()


def _departure(node: Node) -> Behaviour | None:
    """Return how an element is left that is not left by its flows; None for all others."""
    match node.kind, node.element.event_type:
        case Kind.END_EVENT, EventType.TERMINATE:
            return tokens.end_scope
        case Kind.END_EVENT, EventType.CANCEL:
            return compensation.leave_transaction
        case Kind.PROCESS, _:
            return tokens.leave_process
    return tokens.jump if node.link_target else None


def _node(element: Element, flows: Mapping[str, SequenceFlow]) -> Node:
    outgoing = tuple(flow_plan(flows[id_]) for id_ in element.outgoing)
    default = next((flow for flow in outgoing if flow.id == element.default), None)
    has_conditions = any(flow.condition is not None for flow in outgoing)
    conditioned = tuple(f for f in outgoing if f.condition is not None and f is not default)
    free = [flow for flow in outgoing if flow.condition is None]
    is_join = element.kind in JOINING and len(element.incoming) > 1
    inputs = tuple(mapping_plan(mapping) for mapping in element.inputs)
    return Node(
        id=element.id,
        kind=element.kind,
        element=element,
        enter=tokens.leave if _passes(element) else BEHAVIOURS[element.kind],
        outgoing=outgoing,
        only=outgoing[0] if len(outgoing) == 1 and not has_conditions else None,
        default=default,
        conditioned=conditioned,
        otherwise=default or (free[0] if len(free) == 1 else None),
        has_conditions=has_conditions,
        joins={id_: n for n, id_ in enumerate(element.incoming)} if is_join else {},
        all_arrived=(1 << len(element.incoming)) - 1,
        is_complex=element.kind is Kind.COMPLEX_GATEWAY,
        activation=compile_optional(element.activation),
        inputs=inputs,
        outputs=tuple(mapping_plan(mapping) for mapping in element.outputs),
        local_names=frozenset(mapping.path[0] for mapping in inputs),
        job=None if element.job is None else job_plan(element.job),
        script=None if element.script is None else script_plan(element.id, element.script),
        decision=plan_decision(element.decision),
        timer=None if element.timer is None else timer_plan(element.timer),
        code=code_plan(element),
        event_name=None if element.event_name is None else name_plan(element.event_name),
        actions=_actions(element),
        parts=tuple(_part(n, part, flows) for n, part in enumerate(element.parts)),
        condition=None if element.condition is None else compile_condition(element.condition),
        call=None if element.called is None else call_plan(element.called),
        ad_hoc=None if element.ad_hoc is None else ad_hoc_plan(element.id, element.ad_hoc),
    )


def _part(number: int, element: Element, flows: Mapping[str, SequenceFlow]) -> Node:
    """Resolve an event of several definitions about one of them."""
    part = _node(element, flows)
    part.part = number
    return part


def _passes(element: Element) -> bool:
    """Say whether a token passes through an element and nothing happens."""
    is_plain = element.kind in PASSED and element.event_type is EventType.NONE
    return is_plain and not (element.job or element.inputs or element.outputs)


def _actions(element: Element) -> int:
    """Return how many records entering an element may write, what it waits for aside."""
    variables_and_incident = 2
    by_itself = 2 * (element.job is not None) + (element.decision is not None)
    by_itself += element.ad_hoc is not None
    return variables_and_incident + by_itself


def _records_of(event: Node) -> int:
    """Return how many records it takes to wait for an event: a timer, or a subscription twice."""
    return 1 if event.timer is not None else SUBSCRIPTION_ACTIONS
