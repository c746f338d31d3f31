"""The source of truth for clients: the OpenAPI document of everything under `/v1`."""

from __future__ import annotations

from chalicelib.api.operation import About, camel_case
from chalicelib.api.published import published
from chalicelib.api.zenbpm import PREFIX, errors
from chalicelib.settings import VERSION

ABOUT = About(
    title="Headrace: the ZenBPM API",
    version=VERSION,
    description=(
        "BPMN processes, the jobs of their workers, and what operators do about incidents, in the "
        "protocol of ZenBPM. `jobs/activate` and `jobs/{jobKey}/claim` are Headrace's own; they "
        "refuse members that they do not know, everything else ignores them. All keys are below "
        "2^53."
    ),
    prefix=PREFIX,
    error=errors.ERROR,
    more_of_error=dict(errors.DETAILS.values()),
    spell=camel_case,
)

routes, document = published(ABOUT, errors.error)
