"""A turn: the instance before, the instance after, and the effects owed to the outside."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from chalicelib.engine.decided import Called, DecisionMade
from chalicelib.engine.effects import Effect
from chalicelib.engine.guards import Guard
from chalicelib.engine.state import Instance, RecordKey, Waited
from chalicelib.json_text import JsonObject


class Entered(NamedTuple):
    """History: a token entered an element; `key` is the element instance's."""

    key: int
    element_id: str
    scope: int


class Iterated(NamedTuple):
    """History: an iteration of a multi-instance activity began: a scope within its body.

    Shapes: a body of rounds, which need no scopes of their own, is its own `body`; what waits to
        trigger an event subprocess has the scope it waits in for one.
    """

    key: int
    body: int


class ChildCalled(NamedTuple):
    """History: an element began to wait for a child instance."""

    key: int
    element_key: int


class Left(NamedTuple):
    """History: an element completed; `outputs` is what its mappings handed on, None if nothing."""

    key: int
    outputs: JsonObject | None


class Terminated(NamedTuple):
    """History: an element was interrupted or cancelled."""

    key: int


class Taken(NamedTuple):
    """History: a token took a sequence flow; `key` is made for this row.

    Shapes: `scope` is 0 at the top of the instance.
    """

    key: int
    flow_id: str
    scope: int = 0


class Changed(NamedTuple):
    """History: variables of a scope were set, and removed; snapshots are folded when read."""

    scope: int
    values: JsonObject
    removed: tuple[str, ...] = ()


class Armed(NamedTuple):
    """History: a timer was set, on behalf of the element instance `element_key`."""

    key: int
    element_id: str
    element_key: int
    due: datetime


class Disarmed(NamedTuple):
    """History: a timer fired, or was withdrawn with what it was set for."""

    key: int
    fired: bool


class Subscribed(NamedTuple):
    """History: an event began to wait for a message or a signal, on behalf of `element_key`.

    Shapes: `correlation_key` is None for a signal.
    """

    key: int
    element_id: str
    element_key: int
    name: str
    correlation_key: str | None


class Unsubscribed(NamedTuple):
    """History: what an event waited for came, or it was withdrawn with what it waited on."""

    key: int
    came: bool


HistoryEvent = (
    Entered
    | Left
    | Terminated
    | Taken
    | Changed
    | Armed
    | Disarmed
    | Subscribed
    | Unsubscribed
    | Iterated
    | ChildCalled
)


class Turn(NamedTuple):
    """What one command makes of one instance; the store writes the difference.

    Shapes: `before` is None when the turn starts the instance; `guards` says for each record
        that is written which condition the decision rests on; `done` is False if the turn only
        made moves of the agenda, so the command is to be decided again on the next; `decided`
        are the decisions that it made.
    """

    before: Instance | None
    after: Instance
    at: datetime
    effects: tuple[Effect, ...] = ()
    history: tuple[HistoryEvent, ...] = ()
    guards: Mapping[RecordKey, Guard] = {}
    blocks: tuple[int, ...] = ()  # key blocks taken by this turn, which get an alias item
    done: bool = True
    decided: tuple[DecisionMade, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether there is anything to write; a repeat that changes nothing has none."""
        return self.before is not self.after

    def stamped(self, turn_id: str) -> Turn:
        """Return the turn with the random id that says who wrote this version."""
        root = self.after.root._replace(turn_id=turn_id)
        return self._replace(after=self.after._replace(root=root))


class Missing(Exception):
    """The decision needs records that were not read; read them and decide again.

    Shapes: `waited` are the messages of which it must be known who waits for them; `decisions`
        those that are called.
    """

    def __init__(
        self,
        keys: frozenset[RecordKey],
        waited: frozenset[Waited] = frozenset(),
        decisions: frozenset[Called] = frozenset(),
    ) -> None:
        names = sorted((k.type.__name__, k.key) for k in keys)
        called = sorted(each.decision_id for each in decisions)
        super().__init__(f"not read: {names}, {sorted(waited)}, {called}")
        self.keys = keys
        self.waited = waited
        self.decisions = decisions
