"""Priostack's spelling: every request, answer and question of `/api/v1`.

Source: contracts/priostack.md, "Contract". Incidents are written in snake_case there, all else in
camelCase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from chalicelib.api.fields import member
from chalicelib.api.job_results import RESULT
from chalicelib.api.priostack import views
from chalicelib.api.schema import (
    INT32_MAX,
    INT64_MAX,
    Anything,
    Choice,
    Field,
    Flag,
    ListOf,
    Moment,
    Object,
    Text,
    Type,
    Whole,
)

LIMIT = 100
LIMIT_MAX = 1_000
JOBS_MAX = 100  # one activation hands out
KEY = Whole()
PAGE_QUERY: Mapping[str, Type] = {"limit": Whole(1, LIMIT_MAX), "offset": Whole(0, INT32_MAX)}
DONE = Object("Done")  # an empty object


def page_of(item: Object) -> Object:
    """Declare one page of a list: of what is on it, and how many there are in all."""
    return Object(
        f"{item.name}Page",
        {
            "items": member(ListOf(item), lambda page: page[0]),
            "total": member(Whole(), lambda page: page[1]),
        },
    )


# --- definitions -------------------------------------------------------------------------------

DEPLOY = Object("Deploy", {"xml": Field(Text(1), required=True), "name": Field(Text())})


def _definition(of: Callable[[Any], Any]) -> dict[str, Field]:
    return {
        "key": member(KEY, lambda found: of(found).key),
        "bpmnProcessId": member(Text(), lambda found: of(found).bpmn_process_id),
        "version": member(Whole(), lambda found: of(found).version),
        "name": member(Text(), lambda found: of(found).name, optional=True),
        "deployedAt": member(Moment(), lambda found: of(found).deployed_at),
    }


DEFINITION = Object("ProcessDefinition", _definition(lambda found: found))
DEPLOYED = Object(  # of the processes of one file, or of a file of decisions
    "Deployed",
    {
        **_definition(lambda found: found[0]),
        "bpmnProcessId": member(
            Text(), lambda found: getattr(found[0], "bpmn_process_id", None), optional=True
        ),
        "decisions": member(
            ListOf(Text()), lambda found: getattr(found[0], "decisions", None), optional=True
        ),
        "definitions": member(
            ListOf(DEFINITION), lambda found: found if len(found) > 1 else None, optional=True
        ),
    },
)
DEFINITION_PAGE = page_of(DEFINITION)
DEFINITIONS_QUERY: Mapping[str, Type] = {**PAGE_QUERY, "bpmnProcessId": Text(), "latest": Flag()}

# --- process instances -------------------------------------------------------------------------

VARIABLES = Object("Variables", {"variables": member(Anything(), lambda variables: variables)})
SET_VARIABLES = Object("SetVariables", {"variables": Field(Anything(), required=True)})
START = Object(
    "StartInstance",
    {
        "bpmnProcessId": Field(Text(1)),
        "processDefinitionKey": Field(KEY),
        "version": Field(Whole(-1, INT32_MAX), nullable=True),
        "variables": Field(Anything(), nullable=True),
    },
)
INSTANCE = Object(
    "ProcessInstance",
    {
        "key": member(KEY, attrgetter("key")),
        "bpmnProcessId": member(Text(), attrgetter("root.bpmn_process_id")),
        "version": member(Whole(), attrgetter("root.definition_version")),
        "processDefinitionKey": member(KEY, attrgetter("root.definition_key")),
        "state": member(
            Choice(views.INSTANCE_STATES), lambda instance: views.instance_state(instance.root)
        ),
        "variables": member(Anything(), views.variables_of),
        "startedAt": member(Moment(), attrgetter("root.created_at")),
        "endedAt": member(Moment(), attrgetter("root.ended_at"), optional=True),
    },
)
INSTANCE_PAGE = page_of(INSTANCE)
INSTANCES_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "state": Choice(views.INSTANCE_STATES),
    "bpmnProcessId": Text(),
}

# --- jobs --------------------------------------------------------------------------------------

_JOB = {
    "key": member(KEY, attrgetter("job.key")),
    "type": member(Text(), attrgetter("job.type")),
    "processInstanceKey": member(KEY, attrgetter("job.instance_key")),
    "bpmnProcessId": member(Text(), attrgetter("root.bpmn_process_id")),
    "processDefinitionKey": member(KEY, attrgetter("root.definition_key")),
    "processDefinitionVersion": member(Whole(), attrgetter("root.definition_version")),
    "elementId": member(Text(), attrgetter("job.element_id")),
    "elementInstanceKey": member(KEY, attrgetter("job.element_key")),
    "customHeaders": member(Anything(), attrgetter("job.headers")),
    "worker": member(Text(), attrgetter("worker"), optional=True),
    "retries": member(Whole(), attrgetter("job.retries")),
    "deadline": member(Whole(), attrgetter("deadline")),
    "variables": member(Anything(), attrgetter("variables")),
}
ACTIVATED_JOB = Object("ActivatedJob", _JOB)
ACTIVATED = Object("ActivatedJobs", {"jobs": member(ListOf(ACTIVATED_JOB), lambda jobs: jobs)})
ACTIVATE_QUERY: Mapping[str, Type] = {
    "type": Text(1),
    "worker": Text(1, 200),
    "maxJobs": Whole(1, JOBS_MAX),
    "maxJobsToActivate": Whole(1, JOBS_MAX),
    "requestTimeout": Whole(0),
    "fetchVariables": ListOf(Text()),
}
JOB = Object(
    "Job",
    {
        **_JOB,
        "state": member(Choice(("pending", "active")), attrgetter("state")),
        "createdAt": member(Moment(), attrgetter("job.created_at")),
    },
)
JOB_PAGE = page_of(JOB)
JOBS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "type": Text(),
    "state": Choice(("pending", "waiting", "active")),
    "processInstanceKey": KEY,
}
COMPLETE_JOB = Object(
    "CompleteJob",
    {
        "variables": Field(Anything(), nullable=True),
        "result": Field(RESULT, nullable=True),
    },
)
COMPLETE_USER_TASK = Object("CompleteUserTask", {"variables": Field(Anything(), nullable=True)})
FAIL_JOB = Object(
    "FailJob",
    {
        "retries": Field(Whole(-INT64_MAX, INT32_MAX), nullable=True),
        "errorMessage": Field(Text(), nullable=True),
    },
)

# --- incidents ---------------------------------------------------------------------------------

INCIDENT = Object(
    "Incident",
    {
        "id": member(KEY, attrgetter("key")),
        "process_instance_key": member(KEY, attrgetter("instance_key")),
        "job_key": member(KEY, attrgetter("job_key"), optional=True),
        "element_id": member(Text(), attrgetter("element_id")),
        "error_code": member(Text(), views.error_code),
        "error_message": member(Text(), views.error_message),
        "severity": member(Choice(("critical",)), lambda _: "critical"),
        "status": member(
            Choice(("open", "resolved")),
            lambda incident: "open" if views.marked_at(incident) is None else "resolved",
        ),
        "created_at": member(Moment(), attrgetter("created_at")),
        "resolved_at": member(Moment(), views.marked_at, optional=True),
    },
)
INCIDENT_PAGE = page_of(INCIDENT)
INCIDENTS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "status": Choice(("open", "resolved")),
    "process_instance_key": KEY,
}
MARK_INCIDENT = Object("MarkIncident", {"status": Field(Choice(("resolved",)))})
