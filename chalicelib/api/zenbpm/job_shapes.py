"""ZenBPM's spelling of what is said about a job beside completing and failing it.

Source: contracts/zenbpm.md sections 1.2, 1.5 and 1.6.
"""

from __future__ import annotations

from chalicelib.api.fields import member
from chalicelib.api.schema import INT32_MAX, Field, Moment, Object, Period, Text, Whole
from chalicelib.api.zenbpm.shapes import KEY, NAME_MAX, page_of

EXTEND_LOCK = Object(
    "ExtendJobLock",
    {
        "clientId": Field(Text(1, NAME_MAX), required=True),
        "deliveryToken": Field(Whole(minimum=1)),
        "lockDuration": Field(Period()),
    },
)
LOCK_EXTENDED = Object("JobLockExtended", {"lockUntil": member(Moment(), lambda until: until)})
ASSIGN_JOB = Object("AssignJob", {"assignee": Field(Text(0, NAME_MAX), required=True)})

_RETRIES = Whole(1, INT32_MAX)
SET_RETRIES = Object(
    "UpdateJobRetries",
    {"retries": Field(_RETRIES, required=True), "retryAt": Field(Moment())},
)
RESOLVE_INCIDENT = Object(
    "ResolveIncident", {"retries": Field(_RETRIES), "retryAt": Field(Moment())}
)

# Of a job and one of its failures, which name the same process instance.
JOB_FAILURE = Object(
    "JobFailure",
    {
        "key": member(KEY, lambda pair: pair[1].key),
        "jobKey": member(KEY, lambda pair: pair[1].job_key),
        "processInstanceKey": member(KEY, lambda pair: pair[0].scope),
        "attempt": member(Whole(), lambda pair: pair[1].attempt),
        "failedAt": member(Moment(), lambda pair: pair[1].failed_at),
        "message": member(Text(), lambda pair: pair[1].message),
        "retryAt": member(Moment(), lambda pair: pair[1].retry_at, optional=True),
        "incidentKey": member(KEY, lambda pair: pair[1].incident_key, optional=True),
    },
)
JOB_FAILURE_PAGE = page_of(JOB_FAILURE)
