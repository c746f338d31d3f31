"""What each function imports by its handler, and by its first call: for a test, and to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib import settings, wiring
from infra import names


@dataclass(frozen=True)
class Loading:
    """Code that imports as a function does, and the variables that Lambda and the template set."""

    code: str
    environment: Mapping[str, str] = field(default_factory=dict)


def _of(handler: str, **more: str) -> Loading:
    """Return what a function loads before its first call, and by that."""
    code = "import app\nfrom chalicelib import wiring\nwiring.ports()\n"
    return Loading(code, {wiring.HANDLER: handler, **more})


FIRST_CALLS: Mapping[str, Loading] = {
    names.API: _of("app.app"),
    names.HAND_OUT: _of("app.app", **{settings.ONLY_HAND_OUT: "true"}),
    names.TIMERS: _of("app.on_timers"),
    names.COMMANDS: _of("app.on_commands"),
    names.RUNS: _of("app.on_runs"),
    names.ROUTING: _of("app.on_routing"),
    names.SWEEP: _of("app.sweep"),
}
