"""The hourly trigger of the sweeper, which does its work in parts, off the `commands` queue."""

from __future__ import annotations

from chalicelib.operations import sweep
from chalicelib.ports import Ports


def on_hour(ports: Ports) -> None:
    """Begin a sweep of the live table."""
    sweep.begin(ports)
