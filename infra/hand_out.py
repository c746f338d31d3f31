"""The function of its own that hands jobs out, so that workers who wait starve nobody else.

A long poll holds one execution of its function for up to 20 s. So the routes that hand jobs out are
served by a second function of the same code and door, which no more than so many requests may
be in at a time; the gateway answers those beyond with 503 (`template.GATEWAY_RESPONSES`).
"""

from __future__ import annotations

import copy
import json
from typing import Any

from chalicelib import settings
from infra import names

Json = dict[str, Any]

# The methods and paths by which a worker asks for jobs, in every dialect.
ROUTES = (
    ("post", "/v1/jobs/activate"),
    ("post", "/v1/jobs/{job_key}/claim"),
    ("get", "/api/v1/jobs/activate"),
)
POLLERS_MAX = "PollersMax"  # the parameter
DEFAULT_POLLERS_MAX = 100  # a tenth of an account's usual quota of concurrent executions
IS_CAPPED = "PollersAreCapped"  # the condition

PARAMETERS: Json = {
    POLLERS_MAX: {
        "Type": "Number",
        "Default": DEFAULT_POLLERS_MAX,
        "MinValue": 0,
        "Description": "How many requests for jobs are served at a time, reserved; 0: no cap",
    }
}
CONDITIONS: Json = {IS_CAPPED: {"Fn::Not": [{"Fn::Equals": [{"Ref": POLLERS_MAX}, 0]}]}}
CAP: Json = {
    "ReservedConcurrentExecutions": {
        "Fn::If": [IS_CAPPED, {"Ref": POLLERS_MAX}, {"Ref": "AWS::NoValue"}]
    }
}


def with_hand_out(whole: Json, function: Json) -> Json:
    """Return the whole template with the function, its cap, its permission and its routes."""
    changed = copy.deepcopy(whole)
    resources = changed["Resources"]
    properties = {**function["Properties"], **CAP}
    properties["Environment"]["Variables"][settings.ONLY_HAND_OUT] = (
        "true"  # it loads no other routes
    )
    resources[names.HAND_OUT] = {**function, "Properties": properties}
    permission = f"{names.API}InvokePermission"
    resources[f"{names.HAND_OUT}InvokePermission"] = _of_hand_out(resources[permission])
    paths = resources["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    for method, path in ROUTES:
        paths[path][method] = _of_hand_out(paths[path][method])
    return changed


def _of_hand_out(said_of_the_api: Json) -> Json:
    """Return what is said of the API's function, said of this one."""
    text = json.dumps(said_of_the_api)
    for reference in (f'"{names.API}"', f"${{{names.API}.Arn}}"):
        text = text.replace(reference, reference.replace(names.API, names.HAND_OUT))
    said: Json = json.loads(text)
    return said
