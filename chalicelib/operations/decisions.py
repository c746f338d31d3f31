"""Deciding a command: the pure engine, given what it asks for, until its turn fits.

The engine asks for records it was not given and for more key blocks by raising; it is run again.
A turn that passes a bound of the store is made smaller by letting it make fewer moves; what is
still too large is either the caller's own payload (refused, nothing changes) or the model's doing
(an incident says which limit). Design section 3, "Load" and "Size".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from chalicelib.bpmn.model import Process
from chalicelib.delivery.promise import measure
from chalicelib.engine.commands import (
    Command,
    CompleteJob,
    Correlate,
    CreateInstance,
    FailJob,
    ModifyInstance,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.decided import Called, Decidable
from chalicelib.engine.draft import Given
from chalicelib.engine.draws import Draws
from chalicelib.engine.handle import handle
from chalicelib.engine.incidents import limit_turn
from chalicelib.engine.keys import Keys, OutOfKeys
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import Instance, Waited
from chalicelib.engine.turn import Missing, Turn
from chalicelib.errors import Rejected, TooLarge
from chalicelib.feel.moment import Moment
from chalicelib.operations import dmn_decisions
from chalicelib.operations.moments import deadline
from chalicelib.ports import Ports, Write
from chalicelib.store import blocks, instances, subscriptions

ASKS_MAX = 1_000  # times the engine may ask for more: each time it gets further
FEWER_MOVES = (16, 1, 0)  # how many a turn makes that would else be too large

# Commands with a caller's data.
Payload = CompleteJob | Correlate | FailJob | ModifyInstance | ResolveIncident | SetVariables


@dataclass(frozen=True, slots=True)
class Decision:
    """The turn to commit, and its writes; `refusal` is what the caller is told once it stands."""

    turn: Turn
    writes: Sequence[Write]
    refusal: TooLarge | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What of other collections the engine asked for while it decided."""

    holders: dict[Waited, int] = field(default_factory=dict)
    decisions: dict[Called, Decidable | None] = field(default_factory=dict)

    @property
    def is_any(self) -> bool:
        """Whether it asked for anything."""
        return bool(self.holders or self.decisions)


Make = Callable[[Instance | None, Keys, Found, Moment], Turn]


def decide(ports: Ports, process: Process, instance: Instance, command: Command) -> Decision:
    """Decide a command on an instance as read, so that its turn fits into one transaction.

    Raises: Rejected; TooLarge if the caller's own payload passes a limit.
    """
    try:
        return _fitting(ports, process, instance, command)
    except TooLarge as refusal:
        if _fits_without_payload(ports, process, instance, command):
            raise
        return limited(ports, process, instance, command, refusal)


def decide_start(
    ports: Ports, process: Process, command: CreateInstance, block: int | None = None
) -> Decision:
    """Decide how a new instance starts, in a key block of its own, or in one that was taken for
    it. Raises: Rejected."""
    return _fitting(ports, process, None, command, block)


def limited(
    ports: Ports, process: Process, instance: Instance, command: Command, refusal: TooLarge
) -> Decision:
    """Return, in place of a turn that passes a bound, one that only opens an incident.

    What stood in the way of the command is then out of it, and the command is decided again; if
    it was the command itself, the caller is told so.
    """
    message, limits = refusal.message, ports.settings.limits

    def stop(instance: Instance | None, keys: Keys, _: Found, moment: Moment) -> Turn:
        assert instance is not None
        given = Given(moment, keys, limits)
        return limit_turn(process, instance, command, message, given)

    turn = _made(ports, instance, stop)
    writes = instances.measure(turn)
    if instance.root.agenda:
        return Decision(turn._replace(done=False), writes)
    return Decision(turn, writes, refusal)


def _fitting(
    ports: Ports,
    process: Process,
    instance: Instance | None,
    command: Command,
    block: int | None = None,
) -> Decision:
    """Decide with as many moves as fit. Raises: TooLarge if not even none of them do."""
    refusal: TooLarge | None = None
    for limits in _limits(ports.settings.limits, instance):

        def made(
            known: Instance | None,
            keys: Keys,
            found: Found,
            moment: Moment,
            limits: Limits = limits,
        ) -> Turn:
            asked = command
            if found.is_any and known is not None:
                known = known._replace(holders=found.holders, decisions=found.decisions)
            elif found.is_any and isinstance(command, CreateInstance):
                asked = command._replace(holders=found.holders, decisions=found.decisions)
            return handle(process, known, asked, moment=moment, keys=keys, limits=limits)

        turn = _made(ports, instance, made, block)
        try:
            writes = instances.measure(turn)
            measure(turn.effects)
        except TooLarge as error:
            refusal = refusal or error
            instance = turn.before
        else:
            return Decision(turn, writes)
    assert refusal is not None
    raise refusal


def _limits(limits: Limits, instance: Instance | None) -> Iterator[Limits]:
    """Yield the limits, then with fewer moves; none is no way to get on with an agenda."""
    yield limits
    left = instance is not None and bool(instance.root.agenda or instance.root.purges)
    for moves_max in FEWER_MOVES:
        if moves_max < limits.moves_max and (moves_max or not left):
            yield replace(limits, moves_max=moves_max)


def _made(ports: Ports, instance: Instance | None, make: Make, block: int | None = None) -> Turn:
    """Let the engine make a turn, with all that it asks for.

    However often it asks, it has one deadline, and draws the same by chance.
    """
    if instance is None:
        first, next_offset = block or blocks.take(ports.table), 1
    else:
        first, next_offset = instance.root.blocks[-1], instance.root.next_offset
    spare: list[int] = []
    found, turn_id = Found(), ports.chance.id()
    until = deadline(ports)
    for _ in range(ASKS_MAX):
        moment = Moment(ports.clock.now(), Draws(turn_id).bits, until)
        try:
            turn = make(instance, Keys(first, next_offset, list(spare)), found, moment)
        except Missing as missing:
            if missing.waited:
                found.holders.update(subscriptions.holders(ports.table, missing.waited))
            for called in missing.decisions:
                found.decisions[called] = dmn_decisions.find(ports, called)
            if missing.keys:
                assert instance is not None
                instance = instances.read_more(ports.table, instance, missing.keys)
        except OutOfKeys as needed:
            spare += [blocks.take(ports.table) for _ in range(needed.wanted)]
        else:
            return turn.stamped(turn_id) if turn.changes else turn
    raise RuntimeError(f"expected a turn, found the engine asking for more {ASKS_MAX} times")


def _fits_without_payload(
    ports: Ports, process: Process, instance: Instance, command: Command
) -> bool:
    """Say whether it is the caller's own data that makes the turn of a command too large."""
    if not isinstance(command, Payload):
        return False
    bare = replace(command, variables={})
    if isinstance(bare, FailJob):
        bare = replace(bare, message="")
    if bare == command:
        return False
    try:
        _fitting(ports, process, instance, bare)
    except TooLarge:
        return False
    except Rejected:
        return True
    return True
