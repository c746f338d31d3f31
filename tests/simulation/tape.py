"""What the processes of one run did, so that a run that begins alike need not decide it again.

Two runs are the same up to the call at which only one of them is struck. A process that was over by
then made the same calls in both and gave the same answer. So in the second one its calls are made
again, with all that they do to the world, but without the code that decided them. What a container
remembers of a table besides is set to what it was.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from greenlet import GreenletExit

from chalicelib.ports import Table
from chalicelib.store.caches import PerTable

if TYPE_CHECKING:
    from tests.simulation.world import World

Kept = tuple[object, ...]  # what is remembered of a table, by the order of `_caches`


class Entry(NamedTuple):
    """One call of a port: which, with what, and what was remembered when it was made."""

    method: Callable[..., object]
    port: type
    args: tuple[object, ...]
    kept: Kept


@dataclass(eq=False, slots=True)
class Tape:
    """One process: its calls in their order, and what came of it.

    Shapes: `ended` is how many calls had been made in all when it was over; None if it never was.
    """

    entries: list[Entry] = field(default_factory=list)
    ended: int | None = None
    kept: Kept = ()
    answer: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class Script:
    """The tapes of one run by the order in which its processes began.

    Shapes: `known` are those of a run that is the same until the call of number `until`.
    """

    known: Sequence[Tape] = ()
    until: int = 0
    is_recording: bool = True
    tapes: list[Tape] = field(default_factory=list)
    latest: Kept = ()  # what was remembered at last

    def next(self) -> tuple[Tape, bool]:
        """Return the tape of the process that begins, and whether it says all of it already."""
        number = len(self.tapes)
        tape = self.known[number] if number < len(self.known) else Tape()
        is_whole = tape.ended is not None and tape.ended <= self.until
        self.tapes.append(tape if is_whole else Tape())
        return self.tapes[-1], is_whole

    def keep(self, store: Table) -> Kept:
        """Return what is remembered now; the same object if nothing changed."""
        found = tuple(_copied(each.of(store)) for each in _caches())
        if found != self.latest:
            self.latest = found
        return self.latest

    def bring_back(self, store: Table, kept: Kept) -> None:
        """Let that be remembered which was."""
        if kept is not self.latest:
            self.latest = kept
            for each, value in zip(_caches(), kept, strict=True):
                each._values[store] = _copied(value)


def _copied(value: object) -> object:
    """Return a shallow copy: of most, which are dictionaries, without the detour of `copy`."""
    return value.copy() if isinstance(value, dict) else copy.copy(value)


@cache
def _caches() -> tuple[PerTable[Any], ...]:
    return tuple(each for each in gc.get_objects() if isinstance(each, PerTable))


class _Port(Protocol):
    @property
    def world(self) -> World: ...


P = ParamSpec("P")
S = TypeVar("S", bound=_Port)
T = TypeVar("T")


def taped(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a port's calls be written to the tape of the process that makes them."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        actor = self.world.actor
        if actor is None or (tape := actor.tape) is None:
            return method(self, *args, **kwargs)
        assert not kwargs, f"expected {method.__name__} to be called by position, found {kwargs}"
        tape.entries.append(Entry(method, type(self), args, self.world.keep()))
        actor.tape = None  # what it calls itself is a part of it
        try:
            return method(self, *args, **kwargs)
        finally:
            actor.tape = tape

    return call


def record(world: World, tape: Tape, operation: Callable[[], T]) -> T:
    """Let a process run and write down what it does."""
    assert world.actor is not None
    actor, actor.tape = world.actor, tape
    try:
        tape.answer = answer = operation()
    except GreenletExit:
        raise  # the play is over
    except BaseException as error:
        tape.error, tape.ended = error, world.calls
        raise
    else:
        tape.ended = world.calls
        return answer
    finally:
        actor.tape = None
        tape.kept = world.keep()


def replay(world: World, tape: Tape) -> Any:
    """Make the calls of a process again. Raises: what it raised; what a call raises that was not
    caught in it comes of itself."""
    for entry in tape.entries:
        world.bring_back(entry.kept)
        try:
            entry.method(world.cast[entry.port], *entry.args)
        except Exception:
            continue  # what it led to is on the tape
    world.bring_back(tape.kept)
    if tape.error is not None:
        assert isinstance(tape.error, Exception), f"expected a process to die, found {tape}"
        raise tape.error.with_traceback(None)
    return tape.answer
