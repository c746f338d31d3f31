"""Every door of Headrace: HTTP by the dialects' Blueprints, and the triggers that are not HTTP.

No logic is here. Triggers are declared on the app and nowhere else, because a handler in a
Blueprint would bypass it (docs/adr/0005); each unpacks its event and calls `triggers/`.
"""

from __future__ import annotations

from typing import Any

from chalice.app import CloudWatchEvent, Rate, SQSEvent

from chalicelib import logs, wiring
from chalicelib.api import zenbpm
from chalicelib.api.gateway import Gateway, serve_the_rest

app = Gateway("headrace")
app.register_middleware(logs.invocation, "all")

zenbpm.register(app)
serve_the_rest(app, zenbpm.errors.error)
