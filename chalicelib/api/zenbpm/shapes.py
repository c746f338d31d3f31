"""ZenBPM's spelling: every request, answer and error of `/v1`, and nothing else knows it.

Source: contracts/zenbpm.md sections 1.1 to 1.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from chalicelib.api.fields import member
from chalicelib.api.job_results import RESULT
from chalicelib.api.schema import (
    INT32_MAX,
    Anything,
    Choice,
    Field,
    Flag,
    ListOf,
    Moment,
    Object,
    Period,
    Text,
    Type,
    Whole,
    iso8601,
)
from chalicelib.api.zenbpm.views import token_state
from chalicelib.engine.state import Job

PAGE_SIZE = 10
PAGE_SIZE_MAX = 100
LONG_PAGE_SIZE_MAX = 1_000  # of history and job failures
JOBS_MAX = 100  # one activation hands out
WAIT_MAX = timedelta(seconds=20)  # WaitTimeSeconds of one SQS receive, below the gateway's 29 s
NAME_MAX = 200  # characters of a client's id or a job type
PARTITION = 1  # all keys belong to one partition (section 1.1)

KEY = Whole()
DEFINITION_KEY = Whole(minimum=1)  # definitions validate the key first (section 1.1)
STATES = Choice(("active", "completed", "terminated", "failed"))
ORDER = Choice(("asc", "desc"))


# --- pages -------------------------------------------------------------------------------------

PAGE_QUERY: Mapping[str, Type] = {
    "page": Whole(1, INT32_MAX),
    "size": Whole(1, PAGE_SIZE_MAX),
}
LONG_PAGE_QUERY: Mapping[str, Type] = {**PAGE_QUERY, "size": Whole(1, LONG_PAGE_SIZE_MAX)}


def page_of(item: Object) -> Object:
    """Declare one page of a list."""
    return Object(
        f"{item.name}Page",
        {
            "items": member(ListOf(item), lambda page: page.items),
            **_counts(),
        },
    )


def partitioned_page_of(item: Object) -> Object:
    """Declare one page of a list as a cluster with a single partition answers it."""
    partition = Object(
        f"{item.name}Partition",
        {
            "partition": member(Whole(), lambda _: PARTITION),
            "items": member(ListOf(item), lambda page: page.items),
            "totalCount": member(Whole(), lambda page: page.total),
        },
    )
    return Object(
        f"{item.name}PartitionedPage",
        {"partitions": member(ListOf(partition), lambda page: [page]), **_counts()},
    )


def _counts() -> dict[str, Field]:
    return {
        "page": member(Whole(), lambda page: page.page),
        "size": member(Whole(), lambda page: page.size),
        "count": member(Whole(), lambda page: len(page.items)),
        "totalCount": member(Whole(), lambda page: page.total),
    }


# --- definitions -------------------------------------------------------------------------------

DEPLOYED = Object("Deployed", {"processDefinitionKey": member(KEY, lambda key: key)})


def _definition(of: Callable[[Any], Any]) -> dict[str, Field]:
    return {
        "key": member(KEY, lambda found: of(found).key),
        "version": member(Whole(), lambda found: of(found).version),
        "bpmnProcessId": member(Text(), lambda found: of(found).bpmn_process_id),
        "bpmnProcessName": member(Text(), lambda found: of(found).name, optional=True),
        "versionTag": member(Text(), lambda found: of(found).version_tag, optional=True),
    }


DEFINITION_SIMPLE = Object("ProcessDefinitionSimple", _definition(lambda definition: definition))
DEFINITION_DETAIL = Object(  # of a definition and its XML
    "ProcessDefinitionDetail",
    {**_definition(lambda found: found[0]), "bpmnData": member(Text(), lambda found: found[1])},
)
DEFINITION_PAGE = page_of(DEFINITION_SIMPLE)
DEFINITIONS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "onlyLatest": Flag(),
    "sortBy": Choice(("name", "bpmnProcessId", "bpmnProcessName", "version", "key")),
    "sortOrder": ORDER,
    "bpmnProcessId": Text(),
    "search": Text(),
}

# --- process instances -------------------------------------------------------------------------

CREATE_INSTANCE = Object(
    "CreateProcessInstance",
    {
        "processDefinitionKey": Field(KEY),
        "bpmnProcessId": Field(Text()),
        "variables": Field(Anything(), nullable=True),
        "historyTimeToLive": Field(Text()),
        "businessKey": Field(Text()),
    },
)
SET_VARIABLES = Object("SetVariables", {"variables": Field(Anything(), required=True)})
ELEMENT_INSTANCE = Object(
    "ActiveElementInstance",
    {
        "elementInstanceKey": member(KEY, lambda element: element.key),
        "createdAt": member(Moment(), lambda element: element.created_at),
        "state": member(Text(), token_state),
        "elementId": member(Text(), lambda element: element.element_id),
    },
)
_INSTANCE_SIMPLE = {
    "key": member(KEY, lambda view: view.key),
    "processDefinitionKey": member(KEY, lambda view: view.root.definition_key),
    "bpmnProcessId": member(Text(), lambda view: view.root.bpmn_process_id),
    "version": member(Whole(), lambda view: view.root.definition_version),
    "versionTag": member(Text(), lambda view: view.version_tag, optional=True),
    "businessKey": member(Text(), lambda view: view.root.business_key, optional=True),
    "createdAt": member(Moment(), lambda view: view.created_at),
    "state": member(STATES, lambda view: view.state),
    "parentProcessInstanceKey": member(KEY, lambda view: view.parent_key, optional=True),
    "processType": member(
        Choice(("default", "multiInstance", "subprocess", "callActivity")),
        lambda view: view.process_type,
    ),
    "variables": member(Anything(), lambda view: view.variables),
}
INSTANCE_SIMPLE = Object(
    "ProcessInstanceSimple",
    {**_INSTANCE_SIMPLE, "incidentCount": member(Whole(), lambda view: view.incident_count)},
)
INSTANCE = Object(
    "ProcessInstance",
    {
        **_INSTANCE_SIMPLE,
        "activeElementInstances": member(ListOf(ELEMENT_INSTANCE), lambda view: view.waiting),
    },
)
INSTANCE_PAGE = partitioned_page_of(INSTANCE_SIMPLE)
INSTANCES_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "processDefinitionKey": KEY,
    "parentProcessInstanceKey": KEY,
    "businessKey": Text(),
    "bpmnProcessId": Text(),
    "sortBy": Choice(("createdAt", "key", "state", "businessKey", "bpmnProcessId")),
    "sortOrder": ORDER,
    "createdFrom": Moment(),
    "createdTo": Moment(),
    "state": STATES,
    "activityId": Text(),
    "includeChildProcesses": Flag(),
}
HISTORY_ROW = Object(
    "FlowElementHistory",
    {
        "key": member(KEY, lambda view: view.row.key),
        "processInstanceKey": member(KEY, lambda view: view.row.scope),
        "createdAt": member(Moment(), lambda view: view.row.created_at),
        "completedAt": member(Moment(), lambda view: view.completed_at, optional=True),
        "elementId": member(Text(), lambda view: view.row.element_id),
        "elementType": member(Text(), lambda view: view.element_type),
        "inputVariables": member(Anything(), lambda view: view.row.inputs),
        "outputVariables": member(Anything(), lambda view: view.row.outputs, optional=True),
    },
)
HISTORY_PAGE = page_of(HISTORY_ROW)
HISTORY_QUERY: Mapping[str, Type] = {
    **LONG_PAGE_QUERY,
    "sortBy": Choice(("createdAt",)),
    "sortOrder": ORDER,
}

INCIDENT = Object(
    "Incident",
    {
        "key": member(KEY, lambda incident: incident.key),
        "elementInstanceKey": member(KEY, lambda incident: incident.element_key),
        "elementId": member(Text(), lambda incident: incident.element_id),
        "processInstanceKey": member(KEY, lambda incident: incident.scope or incident.instance_key),
        "message": member(Text(), lambda incident: incident.message),
        "createdAt": member(Moment(), lambda incident: incident.created_at),
        "resolvedAt": member(Moment(), lambda incident: incident.resolved_at, optional=True),
        # A token is where it is, at its element instance; what listens for an event has none.
        "executionToken": member(
            KEY, lambda incident: 0 if incident.is_listening else incident.element_key
        ),
        "jobKey": member(KEY, lambda incident: incident.job_key, optional=True),
    },
)
INCIDENT_PAGE = page_of(INCIDENT)
INCIDENTS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "state": Choice(("resolved", "unresolved")),
}

# --- jobs --------------------------------------------------------------------------------------


def _backoff(job: Job) -> str | None:
    """Return a job's own retry policy; absent when the engine's default applies (R85)."""
    policy = job.retry_policy
    return ",".join(map(iso8601, policy.backoffs)) if policy and policy.backoffs else None


JOB = Object(
    "Job",
    {
        "key": member(KEY, lambda job: job.key),
        "elementId": member(Text(), lambda job: job.element_id),
        "elementType": member(Text(), lambda job: job.element_type),
        "type": member(Text(), lambda job: job.type),
        "processInstanceKey": member(KEY, lambda job: job.scope),
        "elementInstanceKey": member(KEY, lambda job: job.element_key),
        "state": member(STATES, lambda job: job.state.value),
        "createdAt": member(Moment(), lambda job: job.created_at),
        "inputVariables": member(Anything(), lambda job: job.inputs),
        "outputVariables": member(Anything(), lambda job: job.outputs, optional=True),
        "assignee": member(Text(), lambda job: job.assignee, optional=True),
        "retries": member(Whole(), lambda job: job.retries),
        "attempts": member(Whole(), lambda job: job.attempts),
        "retryAt": member(Moment(), lambda job: job.retry_at, optional=True),
        "lastFailureMessage": member(Text(), lambda job: job.last_failure_message, optional=True),
        "retryBackoff": member(Text(), _backoff, optional=True),
        "deliveryToken": member(KEY, lambda job: job.delivery_token),
        "taskHeaders": member(Anything(), lambda job: job.headers or None, optional=True),
    },
)
JOB_PAGE = page_of(JOB)
JOB_PARTITIONS = partitioned_page_of(JOB)
JOBS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "processInstanceKey": KEY,
    "jobType": Text(),
    "assignee": Text(),
    "state": STATES,
    "sortBy": Choice(("createdAt", "key", "type", "state")),
    "sortOrder": ORDER,
}
COMPLETE_JOB = Object(
    "CompleteJob",
    {
        "variables": Field(Anything(), nullable=True),
        "result": Field(RESULT, nullable=True),
    },
)
FAIL_JOB = Object(
    "FailJob",
    {
        "errorCode": Field(Text()),
        "message": Field(Text()),
        "variables": Field(Anything(), nullable=True),
        "retries": Field(Whole(0, INT32_MAX)),
        "retryBackoff": Field(Period()),
        "deliveryToken": Field(Whole(minimum=1)),
        "clientId": Field(Text()),
    },
)

# --- our own: handing out jobs over HTTP -------------------------------------------------------

ACTIVATE_JOBS = Object(
    "ActivateJobs",
    {
        "type": Field(Text(1), required=True),
        "clientId": Field(Text(1, NAME_MAX)),
        "maxJobs": Field(Whole(1, JOBS_MAX)),
        "maxActiveJobs": Field(Whole(0, INT32_MAX)),
        "lockDuration": Field(Period()),
        "waitFor": Field(Period(WAIT_MAX)),
        "requestId": Field(Text(1, NAME_MAX)),
    },
    closed=True,
)
CLAIM_JOB = Object(
    "ClaimJob",
    {
        "clientId": Field(Text(1, NAME_MAX), required=True),
        "lockDuration": Field(Period()),
        "bell": Field(Text()),
        "requestId": Field(Text(1, NAME_MAX)),
    },
    closed=True,
)
DELIVERED_JOB = Object(
    "DeliveredJob",
    {
        "key": member(KEY, lambda job: job.key),
        "instanceKey": member(KEY, lambda job: job.scope),
        "type": member(Text(), lambda job: job.type),
        "elementId": member(Text(), lambda job: job.element_id),
        "elementType": member(Text(), lambda job: job.element_type),
        "variables": member(Anything(), lambda job: job.inputs),
        "headers": member(Anything(), lambda job: job.headers),
        "retries": member(Whole(), lambda job: job.retries),
        "attempt": member(Whole(), lambda job: job.attempts + 1),
        "deliveryToken": member(KEY, lambda job: job.delivery_token),
        "lockUntil": member(Moment(), lambda job: job.lock_until),
        "createdAt": member(Moment(), lambda job: job.created_at),
    },
)
ACTIVATED = Object(
    "ActivatedJobs",
    {
        "clientId": member(Text(), lambda activated: activated[0]),
        "jobs": member(ListOf(DELIVERED_JOB), lambda activated: activated[1]),
    },
)

# --- health ------------------------------------------------------------------------------------

HEALTH = Object(
    "Health",
    {
        "status": member(Choice(("UP", "DOWN")), lambda reasons: "DOWN" if reasons else "UP"),
        "reasons": member(ListOf(Text()), lambda reasons: reasons),
    },
)
