"""Timer start events: promised when their process is deployed, and fired when they are due.

Source: contracts/bpmn.md 3.1 (timer start); design sections 3 ("Start mark") and 4.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from chalicelib import bpmn
from chalicelib.bpmn.model import Process
from chalicelib.delivery.horizon import DEADLINE
from chalicelib.delivery.promise import promise_in_time
from chalicelib.delivery.start_timers import StartMessage
from chalicelib.engine.effects import SetStart
from chalicelib.engine.facts import facts_of
from chalicelib.engine.start_timers import NeverStarts, StartTimer, first_starts, next_start
from chalicelib.engine.turn import Turn
from chalicelib.errors import Conflict, Rejected
from chalicelib.feel.moment import Moment
from chalicelib.operations import decisions
from chalicelib.operations.attempts import attempts, tell
from chalicelib.operations.correlation import start_command
from chalicelib.operations.owed import run_inline
from chalicelib.ports import Item, ItemKey, Ports, Update, Written
from chalicelib.profile import Profile
from chalicelib.store import definitions, instances, start_timers, table
from chalicelib.store.definitions import DefinitionInfo, New
from chalicelib.store.start_timers import Starts

logger = logging.getLogger(__name__)


def compiled(
    xml: bytes, profile: Profile, moment: Moment
) -> tuple[list[Process], Mapping[str, Mapping[str, StartTimer]]]:
    """Compile a file; return its processes, and when the timer start events of each fire first.

    Raises: Rejected, with all that is wrong, also with these timers; TooLarge.
    """
    found: dict[str, Mapping[str, StartTimer]] = {}

    def judge(process: Process) -> Sequence[tuple[str, str]]:
        try:
            found[process.id] = first_starts(process, moment)
        except NeverStarts as refused:
            return refused.problems
        return ()

    return bpmn.parse(xml, profile, judge), found


def starts_again(process: Process, moment: Moment) -> Mapping[str, StartTimer]:
    """Return when the timer start events of a version fire that is the latest again: cycles as if
    it were deployed now; dates that are past were either met or missed. Raises: Rejected."""
    timers = process.timer_starts()
    dates = {name for name, each in timers.items() if each.timer and each.timer.kind == "date"}
    found = first_starts(process, moment)
    return {name: t for name, t in found.items() if name not in dates or t.due > moment.now}


def promise_starts(
    ports: Ports,
    new: Sequence[New],
    starts: Mapping[str, Mapping[str, StartTimer]],
) -> None:
    """Promise the first firings of definitions that are about to be committed."""
    owed = [
        _owed(info, generation, element_id, timer)
        for info, generation in new
        for element_id, timer in starts.get(info.bpmn_process_id, {}).items()
    ]
    if owed:
        promise_in_time(ports, owed)


def fire_start(ports: Ports, message: StartMessage) -> Turn | None:
    """Start an instance for a firing; None if it was done, or its version is not the latest.

    Shapes: the message was found due. What keeps the instance from starting is logged, and the
        cycle goes on.
    Raises: Conflict.
    """
    for _ in attempts(ports):
        starts = start_timers.read(ports.table, message.profile, message.bpmn_process_id)
        timer = None if starts is None else _waiting(starts, message)
        if starts is None or timer is None:
            return None
        definition = definitions.get(ports.table, starts.definition_key)
        assert definition is not None, f"definition {starts.definition_key} is deployed"
        following = next_start(timer, ports.clock.now())
        owed = []
        if following is not None:
            owed.append(_owed(definition, starts.generation, message.element_id, following))
        write = start_timers.advance(_place(message), starts, message.element_id, following)
        element_id = definition.process.started_at(message.element_id)
        command = start_command(ports, definition, element_id, {})
        try:
            decision = decisions.decide_start(ports, definition.process, command)
        except Rejected as rejected:
            if _pass_over(ports, owed, write, rejected):
                return None
            continue
        turn = decision.turn
        promise_in_time(ports, [*turn.effects, *owed], turn.after.key, turn.after.root.turn_id)
        if instances.commit(ports.table, turn, write, decision.writes):
            tell(ports, facts_of(turn, command, definition.process))
            return run_inline(ports, turn)
    raise Conflict(f"process {message.bpmn_process_id} could not be started for {DEADLINE}")


def waiting_starts(pointer: Item, now: datetime) -> Iterator[StartMessage]:
    """Yield the messages of all timers that a *latest* pointer has."""
    starts = start_timers.of_item(pointer)
    if starts is None:
        return
    profile, process_id = table.latest_parts(str(pointer["pk"]))
    for element_id, timer in starts.timers.items():
        yield StartMessage(
            Profile(profile),
            process_id,
            starts.definition_key,
            starts.generation,
            element_id,
            timer.due,
            now,
        )


def _waiting(starts: Starts, message: StartMessage) -> StartTimer | None:
    """Return the timer that a message is for, None if it waits no more."""
    if starts.definition_key != message.definition_key:
        return None
    timer = starts.timers.get(message.element_id)
    return timer if timer is not None and timer.due == message.due else None


def _pass_over(ports: Ports, owed: Sequence[SetStart], write: Update, why: Rejected) -> bool:
    """End a firing that starts nothing; False if another was first."""
    promise_in_time(ports, owed)
    if not isinstance(ports.table.write(write), Written):
        return False
    logger.warning("no instance was started by a timer: %s", why)
    return True


def _owed(info: DefinitionInfo, generation: int, element_id: str, timer: StartTimer) -> SetStart:
    return SetStart(info.profile, info.bpmn_process_id, info.key, generation, element_id, timer.due)


def _place(message: StartMessage) -> ItemKey:
    return table.latest_key(message.profile.value, message.bpmn_process_id)
