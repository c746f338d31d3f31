"""What the engine's expressions are given from outside, made of the ports."""

from __future__ import annotations

from chalicelib.engine.draws import Draws
from chalicelib.feel import Deadline
from chalicelib.feel.moment import Moment
from chalicelib.ports import Ports


def moment(ports: Ports, seed: str | None = None) -> Moment:
    """Return the moment it is, chance that comes from a seed, and a deadline that begins now.

    Shapes: the seed is a new id of its own if none is given.
    """
    chance = Draws(ports.chance.id() if seed is None else seed)
    return Moment(ports.clock.now(), chance.bits, deadline(ports))


def deadline(ports: Ports) -> Deadline:
    """Return a deadline that begins now."""
    return Deadline(lambda: ports.clock.now().timestamp())
