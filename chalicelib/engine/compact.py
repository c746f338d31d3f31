"""The compact execution state of an instance: what its root holds, as tuples.

Design section 3. All times are aware `datetime`s in UTC; all keys are integers below 2^53.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from chalicelib.json_text import JsonValue


class ElementInstance(NamedTuple):
    """One element that a token entered and has not left.

    Shapes: `scope` is the key of the element instance that owns the variables it sees (the
        instance's own key at the top); `tokens` counts, for a subprocess, what is live inside;
        `job`, `timers`, `incident` and `subscriptions` are the keys of the records that are open
        on it. With a `loop` above 0 it is one iteration of a multi-instance activity, the loop-th:
        a scope around the activity's own element instance, within the body. One that
        `is_listening` holds no token: it waits for what triggers an event subprocess of its scope.
        A `child` is the instance that a call activity waits for, a `listener` the job of a
        listener beside that of a user task; one that `is_ending` waits for its end alone, or, an
        ad-hoc subprocess, for that of what is active inside. Of events on it that need all of their
        definitions, `came` counts by the event's id how often each came, where no record that is
        over says so. An iteration that `is_untouched` has the variables still that it began with,
        and no record of them.
    """

    key: int
    element_id: str
    scope: int
    created_at: datetime
    tokens: int = 0
    job: int | None = None
    timers: tuple[int, ...] = ()
    incident: int | None = None
    subscriptions: tuple[int, ...] = ()
    loop: int = 0
    is_listening: bool = False
    child: int = 0
    is_ending: bool = False
    came: Mapping[str, Sequence[int]] = {}
    listener: int = 0
    is_untouched: bool = False

    @property
    def jobs(self) -> list[int]:
        """The keys of the jobs that are open on it: its own, and of a listener beside it."""
        return [key for key in (self.job, self.listener) if key]

    @property
    def is_stuck(self) -> bool:
        """Whether an incident keeps its token from going on, and no job of it waits."""
        return self.incident is not None and self.job is None


class Move(NamedTuple):
    """A token on its way: it is about to enter an element, by a flow or by being started.

    Shapes: with a `position` above 0 it is a fork that has sent tokens along its first so many
        outgoing flows and goes on with the next, so a wide fork costs one entry. A `key` is the
        element instance's, given beforehand because what was caught waits under it as Variables.
    """

    element_id: str
    scope: int
    flow_id: str | None
    position: int = 0
    key: int = 0


class Join(NamedTuple):
    """The tokens that wait at a join, counted per incoming flow.

    Shapes: flows go by their place among the gateway's incoming ones; `arrived` has bit n set if
        a token came by flow n; `more` the tokens that came by a flow again and wait for the next
        round; `used` the flows that let a complex gateway go on, while it waits for the others.
        So a join of 5,000 flows costs a kilobyte.
    """

    arrived: int
    more: Mapping[int, int] = {}
    used: int = 0


class Progress(NamedTuple):
    """How far the body of a multi-instance activity is.

    Shapes: `total` iterations in all, of which `completed` are over; with a `size` child instances
        do them, so many each. The body `owns_variables` if its listeners gave it some; its items
        are `told` to its iterations if these need no record of them. The `results` are what
        iterations gave, by their numbers, as long as that is little; None: records have it.
    """

    total: int
    completed: int = 0
    size: int = 0
    owns_variables: bool = False
    told: bool = False
    results: Mapping[int, JsonValue] | None = None


class Parent(NamedTuple):
    """Who waits for an instance: the element instance of another one.

    Shapes: `scope` is what clients see as its parent; `depth` counts the instances above;
        `errors` and `escalations` are the codes that are caught above, "" if all are; `escalated`
        counts those thrown so far, as each is heard once, and `thrown` are the codes of the last
        of them, in case they have to be told again. With a `first` above 0 the instance does a
        part of a body there, from that iteration on.
    """

    instance_key: int
    scope: int
    depth: int
    errors: Sequence[str] = ()
    escalations: Sequence[str] = ()
    escalated: int = 0
    first: int = 0
    thrown: Sequence[str] = ()


class Part(NamedTuple):
    """What a child instance does of a body: so many iterations, for these items if any."""

    element_id: str
    total: int
    items: Sequence[JsonValue] | None


class Completed(NamedTuple):
    """An activity of a scope that completed and can be undone.

    Shapes: `inside` is the scope that it was, kept for the event subprocess that undoes it from
        inside; 0 where a handler undoes it. `seen` are the keys under which the variables are kept
        of the scopes around it that have ended, from inside out. Without an activity it says what
        was kept of a scope.
    """

    scope: int
    activity: str
    inside: int = 0
    seen: tuple[int, ...] = ()


class Purge(NamedTuple):
    """A scope whose inside is being ended, over as many turns as that needs.

    Shapes: `catcher` is the move that follows when it is done, in place of the scope's own
        completion: the boundary event that interrupted it, or, if it leads into the scope itself,
        the event subprocess that did. What an operator withdraws, be it a
        scope or an element with nothing inside, ends with its token and nothing follows. What is
        `spared` stays, and goes on alone.
    """

    scope: int
    catcher: Move | None = None
    is_withdrawn: bool = False
    spared: int = 0
