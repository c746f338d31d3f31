"""The timers that start instances: they stand on the *latest* pointer of their process.

So a new version cancels them and sets its own by the one write that makes it the latest, and an
instance that a firing starts is committed together with the write that ends the firing: it starts
once, and never by a version that is not the latest any more. `firings` counts them, from a number
of its own for each time that a version became the latest again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.engine.guards import Guard
from chalicelib.engine.start_timers import StartTimer
from chalicelib.ports import Item, ItemKey, Table, Update
from chalicelib.profile import Profile
from chalicelib.store import latest, table
from chalicelib.store.conditions import Asked, condition
from chalicelib.store.latest import Latest
from chalicelib.store.moments import from_ms, to_ms

STARTS, FIRINGS = "starts", "firings"
AGAIN = 2**32  # firings of one version while it is the latest, one a second for 136 years


@dataclass(frozen=True, slots=True)
class Starts:
    """What a pointer says: the latest version, and when its timer start events fire, by names.

    Shapes: `generation` is the pointer's; `firings` rises with each firing that is over.
    """

    definition_key: int
    generation: int
    timers: Mapping[str, StartTimer] = field(default_factory=dict)
    firings: int = 0

    @property
    def started(self) -> int:
        """How many firings are over since this version became the latest."""
        return self.firings % AGAIN


def read(store: Table, profile: Profile, process_id: str) -> Starts | None:
    """Read the pointer of a process, consistently; None if there is no version of it."""
    return of_item(store.get(table.latest_key(profile.value, process_id)))


def of_item(item: Item | None) -> Starts | None:
    """Read a pointer's item; None if it names no version."""
    found = latest.of_item(item)
    if item is None or found.definition_key is None:
        return None
    timers = item.get(STARTS)
    return Starts(
        definition_key=found.definition_key,
        generation=found.generation,
        timers={id_: _timer(written) for id_, written in timers.items()}
        if isinstance(timers, dict)
        else {},
        firings=int(str(item.get(FIRINGS, 0))),
    )


def attributes(timers: Mapping[str, StartTimer], pointer: Latest) -> Item:
    """Return what a new pointer has of its timers; nothing if there are none."""
    return {STARTS: _written(timers), FIRINGS: pointer.moved * AGAIN} if timers else {}


def advance(place: ItemKey, read: Starts, element_id: str, following: StartTimer | None) -> Update:
    """Return the write that ends a firing: it goes with the instance that the firing starts."""
    timers = {id_: timer for id_, timer in read.timers.items() if id_ != element_id}
    if following is not None:
        timers[element_id] = following
    asked = Asked(version=read.firings, holder=read.definition_key)
    return Update(
        place,
        set={STARTS: _written(timers), FIRINGS: read.firings + 1},
        condition=condition(Guard.START_TIMER, None, asked),
    )


def _written(timers: Mapping[str, StartTimer]) -> Item:
    return {
        id_: {
            "due": to_ms(timer.due),
            "anchor": to_ms(timer.anchor),
            "remaining": timer.remaining,
            "interval": timer.interval,
        }
        for id_, timer in timers.items()
    }


def _timer(written: object) -> StartTimer:
    assert isinstance(written, dict)
    remaining, interval = written["remaining"], written["interval"]
    return StartTimer(
        due=from_ms(int(written["due"])),
        anchor=from_ms(int(written["anchor"])),
        remaining=None if remaining is None else int(remaining),
        interval=None if interval is None else str(interval),
    )
