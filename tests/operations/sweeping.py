"""A sweep at one go, for tests whose table one part of it can look at."""

from __future__ import annotations

from chalicelib.delivery.sweeps import Part
from chalicelib.operations.sweep import Swept
from chalicelib.operations.sweep_parts import sweep_part
from chalicelib.ports import Ports
from chalicelib.store.sweeping import Of


def sweep_all(ports: Ports) -> Swept:
    """Look at the whole live table, as the daily sweep does, in one segment and one part."""
    return sweep_part(ports, Part(0, 1, ports.clock.now(), of=Of.ALL))
