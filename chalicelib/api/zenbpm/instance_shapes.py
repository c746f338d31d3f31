"""ZenBPM's spelling of what is inside instances: children, subscriptions, statistics.

Source: contracts/zenbpm.md sections 1.2 to 1.4.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.api.fields import member
from chalicelib.api.job_results import ACTIVATIONS
from chalicelib.api.schema import (
    Anything,
    Choice,
    Field,
    Flag,
    ListOf,
    MapOf,
    Moment,
    Object,
    Text,
    Type,
    Whole,
)
from chalicelib.api.zenbpm.shapes import (
    ELEMENT_INSTANCE,
    INSTANCE,
    KEY,
    ORDER,
    PAGE_QUERY,
    PARTITION,
    STATES,
    page_of,
    partitioned_page_of,
)

CHILDREN_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "sortBy": Choice(("key", "state")),
    "sortOrder": ORDER,
    "state": STATES,
}

# --- modification ------------------------------------------------------------------------------

START_ON_ELEMENTS = Object(
    "StartProcessInstanceOnElements",
    {
        "processDefinitionKey": Field(KEY, required=True),
        "startingElementIds": Field(ListOf(Text(1)), required=True),
        "variables": Field(Anything(), nullable=True),
    },
)
MODIFY_INSTANCE = Object(
    "ModifyProcessInstance",
    {
        "processInstanceKey": Field(KEY, required=True),
        "variables": Field(Anything(), nullable=True),
        "elementInstancesToStart": Field(
            ListOf(Object("ElementToStart", {"elementId": Field(Text(1), required=True)})),
            nullable=True,
        ),
        "elementInstancesToTerminate": Field(
            ListOf(Object("ElementToTerminate", {"elementInstanceKey": Field(KEY, required=True)})),
            nullable=True,
        ),
    },
)
MODIFIED = Object(
    "ModifiedProcessInstance",
    {
        "processInstance": member(INSTANCE, lambda view: view),
        "activeElementInstances": member(ListOf(ELEMENT_INSTANCE), lambda view: view.waiting),
    },
)

ACTIVATE_ELEMENTS = Object(
    "ActivateElements",
    {
        "elements": Field(ACTIVATIONS, required=True),
        "cancelRemainingInstances": Field(Flag(), nullable=True),
    },
)

# --- messages ----------------------------------------------------------------------------------

PUBLISH_MESSAGE = Object(
    "PublishMessage",
    {
        "messageName": Field(Text(1, 1_000), required=True),
        "correlationKey": Field(Text(), nullable=True),
        "variables": Field(Anything(), nullable=True),
    },
)

# --- event subscriptions -----------------------------------------------------------------------

# All kinds of subscriptions share these, though each has but few of them (section 1.4).
SUBSCRIPTION_STATES = Choice(
    (
        *("active", "compensated", "compensating", "completed", "completing", "failed"),
        *("failing", "ready", "terminated", "terminating", "withdrawn"),
    )
)
SUBSCRIPTIONS_QUERY: Mapping[str, Type] = {**PAGE_QUERY, "state": SUBSCRIPTION_STATES}

_SUBSCRIPTION = {
    "key": member(KEY, lambda view: view.row.key),
    "elementInstanceKey": member(KEY, lambda view: view.row.element_key),
    "elementId": member(Text(), lambda view: view.row.element_id),
    "processDefinitionKey": member(KEY, lambda view: view.definition_key),
    "processInstanceKey": member(KEY, lambda view: view.row.scope),
    "state": member(SUBSCRIPTION_STATES, lambda view: view.state),
    "createdAt": member(Moment(), lambda view: view.row.created_at),
}
TIMER_SUBSCRIPTION_PAGE = page_of(
    Object(
        "TimerSubscription",
        {**_SUBSCRIPTION, "dueDate": member(Moment(), lambda view: view.row.due)},
    )
)
MESSAGE_SUBSCRIPTION_PAGE = page_of(
    Object(
        "MessageSubscription",
        {
            **_SUBSCRIPTION,
            "messageName": member(Text(), lambda view: view.row.name),
            "correlationKey": member(Text(), lambda view: view.row.correlation_key, optional=True),
        },
    )
)
ERROR_SUBSCRIPTION_PAGE = page_of(
    Object(
        "ErrorSubscription",
        {
            **_SUBSCRIPTION,
            "errorCode": member(Text(), lambda view: view.row.error_code, optional=True),
        },
    )
)

# --- statistics --------------------------------------------------------------------------------

_LIVE = {
    "activeCount": member(Whole(), lambda counts: counts.active),
    "incidentCount": member(Whole(), lambda counts: counts.incidents),
}
_PAST = {
    "completedCount": member(Whole(), lambda counts: counts.completed),
    "terminatedCount": member(Whole(), lambda counts: counts.terminated),
}


def _element_statistics(name: str, counts: Object) -> Object:
    partition = Object(
        f"{name}Partition",
        {
            "partition": member(Whole(), lambda _: PARTITION),
            "items": member(MapOf(counts), lambda elements: elements.counts),
        },
    )
    return Object(name, {"partitions": member(ListOf(partition), lambda elements: [elements])})


DEFINITION_ELEMENTS = _element_statistics(
    "DefinitionElementStatistics", Object("DefinitionElementCounts", _LIVE)
)
INSTANCE_ELEMENTS = _element_statistics(
    "InstanceElementStatistics", Object("InstanceElementCounts", {**_LIVE, **_PAST})
)

_INSTANCE_COUNTS = Object(
    "InstanceCounts",
    {
        "total": member(Whole(), lambda counts: counts.total),
        "active": member(Whole(), lambda counts: counts.active),
        "completed": member(Whole(), lambda counts: counts.completed),
        "terminated": member(Whole(), lambda counts: counts.terminated),
        "failed": member(Whole(), lambda counts: counts.failed),
        "withIncident": member(Whole(), lambda counts: counts.with_incident),
    },
)
DEFINITION_STATISTICS_PAGE = partitioned_page_of(
    Object(
        "ProcessDefinitionStatistics",
        {
            "key": member(KEY, lambda counted: counted.definition.key),
            "version": member(Whole(), lambda counted: counted.definition.version),
            "bpmnProcessId": member(Text(), lambda counted: counted.definition.bpmn_process_id),
            "name": member(Text(), lambda counted: counted.definition.name, optional=True),
            "instanceCounts": member(_INSTANCE_COUNTS, lambda counted: counted.instances),
        },
    )
)
DEFINITION_STATISTICS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "onlyLatest": Flag(),
    "bpmnProcessIdIn": ListOf(Text()),
    "bpmnProcessDefinitionKeyIn": ListOf(KEY),
    "search": Text(),
    "sortBy": Choice(("name", "bpmnProcessId", "version", "instanceCount", "incidentCount")),
    "sortOrder": ORDER,
}
