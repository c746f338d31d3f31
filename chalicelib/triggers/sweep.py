"""The hourly trigger of the sweeper, which does its work in parts, off the `commands` queue."""

from __future__ import annotations

from chalicelib.operations import sweep_parts
from chalicelib.ports import Ports


def on_hour(ports: Ports) -> None:
    """Begin the sweep of this hour."""
    sweep_parts.on_hour(ports)
