"""The working copy of an instance that one turn changes, and the frozen turn it becomes.

Transitions change a draft and nothing else; `turn()` freezes it. What was read is never changed
in place: a record is replaced, a mapping is copied before its first change. What a transition
looks for and was not read raises `Missing`, so the caller reads it and decides again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from chalicelib.engine import iterations
from chalicelib.engine.commands import Continue, HearEnd, Retire, SeekStart
from chalicelib.engine.decided import Called, Decidable, DecisionMade
from chalicelib.engine.effects import Effect, Send
from chalicelib.engine.guards import Guard
from chalicelib.engine.keys import Keys
from chalicelib.engine.limits import Limits
from chalicelib.engine.profiles import RULES
from chalicelib.engine.state import (
    ChildWait,
    Completed,
    ElementInstance,
    Failure,
    Incident,
    Instance,
    Job,
    Join,
    LoopItems,
    LoopResults,
    Move,
    Progress,
    Purge,
    Record,
    RecordKey,
    Root,
    StartLock,
    Subscription,
    Thrown,
    Timer,
    Variables,
    Waited,
    key_of,
)
from chalicelib.engine.turn import Changed, HistoryEvent, Missing, Turn
from chalicelib.feel.moment import Moment
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node, Plan

R = TypeVar(
    "R",
    Variables,
    Job,
    Timer,
    Subscription,
    Incident,
    Failure,
    LoopItems,
    LoopResults,
    ChildWait,
    Thrown,
)

# What a turn writes beside records: the root, two items of history, a start mark, a start lock,
# an alias block.
BASE_ACTIONS = 6
JOB_ACTIONS = 2  # a job and its payload
SUBSCRIPTION_ACTIONS = 2  # a subscription, and itself under what it waits for
WRITES: Mapping[type[Record], int] = {Job: JOB_ACTIONS, Subscription: SUBSCRIPTION_ACTIONS}


class Given(NamedTuple):
    """What a turn is given from outside: the moment, keys to hand out, and the limits.

    The deadline of the moment is for all that the turn evaluates; each step has one of its own, of
    the same length.

    Shapes: `holders` says of messages which subscription waits for them alone, 0 for none; of
        others that was not asked yet; `decisions` are those that were looked for.
    """

    moment: Moment
    keys: Keys
    limits: Limits
    holders: Mapping[Waited, int] = {}
    decisions: Mapping[Called, Decidable | None] = {}


class Draft:
    """One instance on its way through one turn."""

    __slots__ = (
        "actions",
        "agenda",
        "before",
        "bodies",
        "completed",
        "counts",
        "deadline",
        "decided",
        "decisions",
        "effects",
        "element_count",
        "elements_max",
        "ended_at",
        "gone",
        "guards",
        "handed",
        "happened",
        "heard",
        "history",
        "holders",
        "incident_count",
        "joins",
        "key",
        "keys",
        "limits",
        "live",
        "moment",
        "moves",
        "now",
        "over",
        "own",
        "parent",
        "plan",
        "purges",
        "records",
        "root",
        "rules",
        "scopes",
        "signals",
        "state",
        "version",
    )

    def __init__(self, plan: Plan, root: Root, before: Instance | None, given: Given) -> None:
        self.plan = plan
        self.rules = RULES[root.profile]
        self.root = root
        self.before = before
        self.key = root.key
        self.version = root.version + 1
        moment, self.keys, self.limits, self.holders, self.decisions = given
        self.now, _, self.deadline = moment
        self.moment = Moment(self.now, moment.random_bits, self.deadline.again())  # of one step
        self.state = root.state
        self.parent = root.parent
        self.ended_at = root.ended_at
        self.element_count = root.element_count
        self.elements_max = self.limits.max_elements if self.limits.max_elements > 0 else inf
        self.incident_count = root.incident_count
        self.live: dict[int, ElementInstance] = {**root.live}
        self.joins: dict[tuple[int, str], Join] = {**root.joins}
        self.bodies: dict[int, Progress] = {**root.bodies}
        self.completed: dict[Completed, int] = {**root.completed}
        self.agenda: list[Move] = [*root.agenda]
        self.purges: list[Purge] = [*root.purges]
        self.counts: dict[int, int] = {root.key: root.tokens}  # tokens of the scopes looked at
        self.records: dict[RecordKey, Record] = {**before.records} if before else {}
        self.gone: set[RecordKey] = set()
        self.guards: dict[RecordKey, Guard] = {}
        self.scopes: dict[int, JsonObject] = {}  # variables of the scopes looked at
        self.own: set[int] = set()  # scopes whose variables are the draft's own copy
        self.effects: list[Effect] = []
        self.history: list[HistoryEvent] = []
        self.decided: list[DecisionMade] = []
        self.heard = 0  # events of the history that conditions were evaluated after
        self.happened: set[tuple[int, str, int]] = set()  # conditional events (conditions.py)
        self.over: list[int] = []  # scopes that are being completed (tokens.py)
        self.signals: list[tuple[int, str]] = []  # over for moves from a depth on (moves.py)
        self.handed: JsonObject = {}  # what its listeners gave to the element that is entered
        self.moves = 0
        self.actions = BASE_ACTIONS

    # --- records ---------------------------------------------------------------------------

    def find(self, kind: type[R], key: int) -> R | None:
        """Return a record, None if there is none. Raises: Missing if it was not read."""
        record_key = RecordKey(kind, key)
        record = self.records.get(record_key)
        if record is None:
            self.need((record_key,))
        return record  # type: ignore[return-value]

    def need(self, keys: Iterable[RecordKey]) -> None:
        """Make sure that all of them were looked for. Raises: Missing, naming all the others."""
        if self.before is None:
            return
        absent, gone = self.before.absent, self.gone
        missing = [k for k in keys if k not in self.records and k not in gone and k not in absent]
        if missing:
            raise Missing(frozenset(missing))

    def put(self, record: Record, guard: Guard = Guard.CHANGED) -> None:
        """Write a record; the first decision about it names the guard."""
        key = key_of(record)
        if key not in self.guards:
            self.guards[key] = guard if key in self.records else Guard.NEW
            self.actions += WRITES.get(type(record), 1)
        self.records[key] = record

    def drop(self, kind: type[Record], key: int) -> None:
        """Delete a record that was read or made; one that is not there is deleted already."""
        record_key = RecordKey(kind, key)
        self.need((record_key,))
        if self.records.pop(record_key, None) is None:
            return
        self.gone.add(record_key)
        if self.guards.get(record_key) is Guard.NEW:
            del self.guards[record_key]
        else:
            self.guards[record_key] = Guard.CHANGED
            self.actions += SUBSCRIPTION_ACTIONS if kind is Subscription else 1

    def emit(self, effect: Effect) -> None:
        """Owe an effect to the outside."""
        self.effects.append(effect)

    def decide(self, made: DecisionMade) -> None:
        """Keep a decision with the turn; one that could not be made is only told."""
        self.decided.append(made)
        if made.evaluated.problem is None:
            self.actions += 1

    # --- variables -------------------------------------------------------------------------

    def values(self, scope: int) -> JsonObject:
        """Return the variables a scope owns; the caller does not change them."""
        values = self.scopes.get(scope)
        if values is None:
            values = self.scopes[scope] = self._read_values(scope)
        return values

    def _read_values(self, scope: int) -> JsonObject:
        element, body = self.live.get(scope), self.bodies.get(scope)
        if element is not None and element.is_untouched:
            return iterations.first_values(self, element)
        is_bare = body is not None and not body.owns_variables  # most are: iterations own them
        record = None if is_bare else self.find(Variables, scope)
        return {} if record is None else record.values

    def own_values(self, scope: int) -> JsonObject:
        """Return the variables a scope owns as a copy of this turn, to be changed."""
        if scope not in self.own:
            self.scopes[scope] = {**self.values(scope)}
            self.own.add(scope)
            self.put(Variables(scope, self.scopes[scope]))
            if scope in self.bodies:
                self.bodies[scope] = self.bodies[scope]._replace(owns_variables=True)
        return self.scopes[scope]

    def assign(self, scope: int, values: JsonObject) -> None:
        """Set variables of the scope that owns them."""
        if values:
            self.own_values(scope).update(values)
            self.history.append(Changed(scope, values))

    def open_scope(self, scope: int, values: JsonObject, *, is_stored: bool = True) -> None:
        """Give a new scope its first variables, which an untouched iteration need not store."""
        self.scopes[scope] = values = dict(values)
        if is_stored:
            self.own.add(scope)
            self.put(Variables(scope, values))
        if values:
            self.history.append(Changed(scope, dict(values)))

    def close_scope(self, scope: int, *, is_stored: bool = True) -> None:
        """Forget the variables of a scope that ended."""
        if is_stored:
            self.drop(Variables, scope)
        self.scopes.pop(scope, None)
        self.own.discard(scope)

    def is_untouched(self, element: ElementInstance) -> bool:
        """Say whether nothing has set a variable of an iteration since it began."""
        return element.is_untouched and element.key not in self.own

    # --- elements ----------------------------------------------------------------------------

    def node(self, element_id: str, scope: int) -> Node:
        """Return the node of an element that is entered in a scope: of one that repeats the body,
        or, in the scope that is this body, the round; of one for many the body, the scope of an
        iteration in there, and in that what is done."""
        node = self.plan.nodes[element_id]
        if node.inner is not None and scope != self.key:
            around = self.live.get(scope)
            if around is not None and around.element_id == element_id:
                return node.inner if node.each is None or around.loop else node.each
        return node

    def node_of(self, element: ElementInstance) -> Node:
        """Return the node of a live element."""
        return self.node(element.element_id, element.scope)

    def shown_scope(self, scope: int) -> int:
        """Return the scope that clients are told: for an iteration, which is ours, its body."""
        element = self.live.get(scope)
        if element is None or not element.loop:
            return scope
        return self.key if self.is_part(element.scope) else element.scope

    def is_part(self, body: int) -> bool:
        """Say whether a body is the part of another instance's that this one is for."""
        return self.root.is_part and self.live[body].scope == self.key

    # --- tokens ----------------------------------------------------------------------------

    def count(self, scope: int, change: int) -> int:
        """Change the number of tokens that are live in a scope, and return it."""
        known = self.counts.get(scope)
        if known is None:
            known = self.live[scope].tokens
        self.counts[scope] = known = known + change
        return known

    # --- the end ---------------------------------------------------------------------------

    def has_changes(self) -> bool:
        """Whether the turn made any difference."""
        is_moved = self.state is not self.root.state or tuple(self.purges) != self.root.purges
        return bool(self.history or self.guards or self.effects) or is_moved

    def turn(self, *, goes_on: bool, done: bool = True) -> Turn:
        """Freeze the draft; `goes_on` says that the agenda can be continued at once."""
        if not self.has_changes():
            assert self.before is not None  # a start always makes a root
            return Turn(self.before, self.before, self.now, done=done)
        if goes_on:
            self.emit(Send(self.key, Continue(), self.version))
        if self.ended_at is self.now:
            self._tell_end()
        after = Instance(self._root(), self.records)
        return Turn(
            self.before,
            after,
            self.now,
            tuple(self.effects),
            tuple(self.history),
            self.guards,
            tuple(self.keys.taken),
            done,
            tuple(self.decided),
        )

    def _tell_end(self) -> None:
        """Owe what follows the end of the instance."""
        root = self.root
        if self.parent is not None:
            self.emit(Send(self.parent.instance_key, HearEnd(self.key), self.version))
        if root.start_lock is not None:
            self._seek_next(root.start_lock)
        if root.retires_at_end:
            self.emit(Send(self.key, Retire(), self.version))

    def _seek_next(self, lock: StartLock) -> None:
        """Owe a look for a message that waits until an instance is let go, where one may wait."""
        if self.rules.buffers_messages:
            process_id, profile = self.root.bpmn_process_id, self.root.profile
            command = SeekStart(lock.name, lock.key, process_id, profile)
            self.emit(Send(self.key, command, self.version))

    def _root(self) -> Root:
        root, keys, live = self.root, self.keys, self.live
        for scope, tokens in self.counts.items():
            if scope in live and live[scope].tokens != tokens:
                live[scope] = live[scope]._replace(tokens=tokens)
        for scope in self.own:
            if scope in live and live[scope].is_untouched:
                live[scope] = live[scope]._replace(is_untouched=False)
        return Root(
            key=root.key,
            definition_key=root.definition_key,
            bpmn_process_id=root.bpmn_process_id,
            definition_version=root.definition_version,
            profile=root.profile,
            created_at=root.created_at,
            version=self.version,
            state=self.state,
            business_key=root.business_key,
            ended_at=self.ended_at,
            time_to_live=root.time_to_live,
            start_lock=root.start_lock,
            tokens=self.counts[root.key],
            element_count=self.element_count,
            incident_count=self.incident_count,
            blocks=(*root.blocks, *keys.taken),
            next_offset=keys.next_offset,
            live=live,
            joins=self.joins,
            bodies=self.bodies,
            completed=self.completed,
            agenda=tuple(self.agenda),
            purges=tuple(self.purges),
            parent=self.parent,
        )
