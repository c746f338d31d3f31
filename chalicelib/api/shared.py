"""The routes that are alike in every dialect of BPMN."""

from __future__ import annotations

from chalice.app import Chalice

from chalicelib.api import conditionals, signals
from chalicelib.api.http import ErrorShape


def register(app: Chalice, prefix: str, error: ErrorShape) -> None:
    """Register them for a dialect; `error` words what goes wrong in its own shape."""
    for part in (conditionals, signals):
        app.register_blueprint(part.routes_with(error), url_prefix=prefix)
