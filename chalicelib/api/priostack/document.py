"""The source of truth for clients: the OpenAPI document of everything under `/api/v1`."""

from __future__ import annotations

from chalicelib.api.operation import About, camel_case
from chalicelib.api.priostack import PREFIX, errors
from chalicelib.api.published import published
from chalicelib.settings import VERSION

ABOUT = About(
    title="Headrace: the Priostack API",
    version=VERSION,
    description=(
        "BPMN processes and the jobs of their workers, in the protocol of Priostack. A worker "
        "activates a job, then completes it or fails it. An activated job stays with its worker: "
        "`deadline` is shown, and nothing happens when it passes. Members that are not known are "
        "ignored. All keys are below 2^53."
    ),
    prefix=PREFIX,
    error=errors.ERROR,
    spell=camel_case,
)

routes, document = published(ABOUT, errors.error)
