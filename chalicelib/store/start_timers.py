"""The timers that start instances: they stand on the *latest* pointer of their process.

So a new version cancels them and sets its own by the one write that makes it the latest, and an
instance that a firing starts is committed together with the write that ends the firing: it starts
once, and never by a version that is not the latest any more. `firings` counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.engine.guards import Guard
from chalicelib.engine.start_timers import StartTimer
from chalicelib.ports import Item, ItemKey, Table, Update
from chalicelib.profile import Profile
from chalicelib.store import table
from chalicelib.store.conditions import Asked, condition
from chalicelib.store.moments import from_ms, to_ms

STARTS, FIRINGS = "starts", "firings"


@dataclass(frozen=True, slots=True)
class Starts:
    """What a pointer says: the latest version, and when its timer start events fire, by their ids.

    Shapes: `firings` is how many of this version's firings have started an instance.
    """

    definition_key: int
    version: int
    timers: Mapping[str, StartTimer] = field(default_factory=dict)
    firings: int = 0


def read(store: Table, profile: Profile, process_id: str) -> Starts | None:
    """Read the pointer of a process, consistently; None if it was never deployed."""
    item = store.get(table.latest_key(profile.value, process_id))
    return None if item is None else of_item(item)


def of_item(item: Item) -> Starts:
    """Read a pointer's item."""
    timers = item.get(STARTS)
    return Starts(
        definition_key=int(str(item["definition_key"])),
        version=int(str(item["version"])),
        timers={id_: _timer(written) for id_, written in timers.items()}
        if isinstance(timers, dict)
        else {},
        firings=int(str(item.get(FIRINGS, 0))),
    )


def attributes(timers: Mapping[str, StartTimer]) -> Item:
    """Return what a new pointer has of its timers; nothing if there are none."""
    return {STARTS: _written(timers), FIRINGS: 0} if timers else {}


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
