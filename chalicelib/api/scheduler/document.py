"""The source of truth for clients: the OpenAPI document of everything under `/scheduler/v1`."""

from __future__ import annotations

from chalicelib.api.operation import About
from chalicelib.api.published import published
from chalicelib.api.scheduler import PREFIX, errors
from chalicelib.settings import VERSION

ABOUT = About(
    title="Headrace: the scheduler API",
    version=VERSION,
    description=(
        "HTTP calls and scripts that run at the times you say, with loop, retry, pool and overlap "
        "lock. A job's secrets are never shown again: a GET has a mask in their place, and a PUT "
        "or PATCH that sends the mask keeps what is stored. Members that are not known are "
        "refused. What can only be judged by running it is stored, and `warnings` say what will "
        "go wrong."
    ),
    prefix=PREFIX,
    error=errors.ERROR,
)

routes, document = published(ABOUT, errors.error)
