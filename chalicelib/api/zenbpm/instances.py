"""Process instances: started, read, changed, cancelled (contracts/zenbpm.md section 1.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import errors, instance_shapes, keys, pages, shapes
from chalicelib.api.zenbpm.pages import Order
from chalicelib.api.zenbpm.views import (
    ACTIVE,
    ASKED_STATES,
    CALL_ACTIVITY,
    FAILED,
    SORT_KEYS,
    HistoryView,
    InstanceView,
    is_asked,
    view,
)
from chalicelib.operations import instances, scopes
from chalicelib.operations.instances import Start
from chalicelib.profile import Profile
from chalicelib.settings import time_to_live
from chalicelib.store.lists import Listed, WantedInstances

ORDER = Order(
    {
        "createdAt": "created_at",
        "key": "key",
        "state": "state",
        "businessKey": "business_key",
        "bpmnProcessId": "bpmn_process_id",
    },
    default="created_at",
)
BY_TIME = Order({"createdAt": "created_at"}, default="created_at")

BY_KEY = Order({"key": "key", "state": "state"}, default="key", ascending=True)

routes = Blueprint(__name__)


@routes.route("/process-instances", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "createProcessInstance",
    headers={repeats.HEADER: repeats.KEY},
    body=shapes.CREATE_INSTANCE,
    answers={201: shapes.INSTANCE},
    refusals=(400, 404, 409, 413, 415),
)
def create_process_instance() -> Response:
    """createProcessInstance: 201 and the instance as far as it ran; 400, 404, 409, 413.

    With an `Idempotency-Key` a repeat gets the instance as it is now; another body gets the 409.
    """
    body = http.json_body(routes.current_request, shapes.CREATE_INSTANCE)
    wanted = Start(
        definition_key=body.get("processDefinitionKey"),
        bpmn_process_id=body.get("bpmnProcessId"),
        profile=Profile.ZENBPM,
        variables=body.get("variables") or {},
        business_key=body.get("businessKey"),
        time_to_live=_time_to_live(body.get("historyTimeToLive")),
    )
    once = repeats.once(routes.current_request)
    found = instances.create_process_instance(wiring.ports(), wanted, once)
    logs.about(instance_key=found.key)
    return http.answer(201, shapes.INSTANCE.write(view(found)))


@routes.route("/process-instances", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessInstances",
    query=shapes.INSTANCES_QUERY,
    answers={200: shapes.INSTANCE_PAGE},
    refusals=(400, 413),
)
def get_process_instances() -> Response:
    """getProcessInstances: 200 and a page; 400.

    Where children are included, subprocesses and multi-instance bodies are listed beside whole
    instances, the newest thousand of these: a header says whether there are more, and `createdTo`
    goes on at the last one. The children of one instance are all of them.
    """
    asked = http.query(routes.current_request, shapes.INSTANCES_QUERY)
    if "parentProcessInstanceKey" in asked:
        # Without its children only what call activities start is listed.
        types = None if asked.get("includeChildProcesses") else frozenset({CALL_ACTIVITY})
        children = _children(asked["parentProcessInstanceKey"], asked, ORDER, types)
        return pages.answer(shapes.INSTANCE_PAGE, asked, children)
    if asked.get("includeChildProcesses"):
        return pages.answer(shapes.INSTANCE_PAGE, asked, _with_scopes(asked))
    states, is_stuck = ASKED_STATES[asked.get("state")]
    wanted = WantedInstances(
        definition_keys=_definition_keys(asked),
        states=states,
        is_stuck=is_stuck,
        business_key=asked.get("businessKey"),
        element_id=asked.get("activityId"),
        created_from=asked.get("createdFrom"),
        created_to=asked.get("createdTo"),
    )
    listed = instances.get_process_instances(
        wiring.ports(), wanted, asked.get("bpmnProcessId"), pages.cut(asked, ORDER)
    )
    shown = Listed([view(found) for found in listed.items], listed.total, listed.is_floor)
    return pages.answer(shapes.INSTANCE_PAGE, asked, shown)


@routes.route("/process-instances/{process_instance_key}", content_types=[])
@errors_as(errors.error)
@Operation("getProcessInstance", answers={200: shapes.INSTANCE}, refusals=(400, 404))
def get_process_instance(process_instance_key: str) -> Response:
    """getProcessInstance: 200 and the instance; 404."""
    key = keys.instance_key(process_instance_key)
    found = instances.get_process_instance(wiring.ports(), key)
    return http.answer(200, shapes.INSTANCE.write(view(found)))


@routes.route(
    "/process-instances/{process_instance_key}/cancel", methods=["POST"], content_types=[]
)
@errors_as(errors.error)
@Operation("cancelProcessInstance", answers={204: None}, refusals=(400, 404, 409, 413))
def cancel_process_instance(process_instance_key: str) -> Response:
    """cancelProcessInstance: 204; 404, 409 if it has ended or is a child."""
    instances.cancel_process_instance(wiring.ports(), keys.instance_key(process_instance_key))
    return http.answer(204)


@routes.route(
    "/process-instances/{process_instance_key}/variables", methods=["PATCH"], content_types=[]
)
@errors_as(errors.error)
@Operation(
    "updateProcessInstanceVariables",
    body=shapes.SET_VARIABLES,
    answers={204: None},
    refusals=(400, 404, 409, 413, 415),
)
def update_process_instance_variables(process_instance_key: str) -> Response:
    """updateProcessInstanceVariables: 204, merged; 400, 404, 409, 413."""
    key = keys.instance_key(process_instance_key)
    body = http.json_body(routes.current_request, shapes.SET_VARIABLES)
    instances.update_process_instance_variables(wiring.ports(), key, body["variables"])
    return http.answer(204)


@routes.route(
    "/process-instances/{process_instance_key}/variables/{variable_name}",
    methods=["DELETE"],
    content_types=[],
)
@errors_as(errors.error)
@Operation("deleteProcessInstanceVariable", answers={204: None}, refusals=(400, 404, 409, 413))
def delete_process_instance_variable(process_instance_key: str, variable_name: str) -> Response:
    """deleteProcessInstanceVariable: 204; 404 for instance or variable, 409."""
    key = keys.instance_key(process_instance_key)
    name = http.path_name(variable_name, "variableName")
    instances.delete_process_instance_variable(wiring.ports(), key, name)
    return http.answer(204)


@routes.route("/process-instances/{process_instance_key}/history", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessInstanceHistory",
    query=shapes.HISTORY_QUERY,
    answers={200: shapes.HISTORY_PAGE},
    refusals=(400, 413),
)
def get_process_instance_history(process_instance_key: str) -> Response:
    """getProcessInstanceHistory: 200 and a page, empty for a key that names nothing; 400."""
    asked = http.query(routes.current_request, shapes.HISTORY_QUERY)
    key = keys.instance_key(process_instance_key)
    cut = pages.cut(asked, BY_TIME)
    listed, process = instances.get_process_instance_history(wiring.ports(), key, cut)
    rows = [HistoryView(row, process) for row in listed.items if process is not None]
    return pages.answer(shapes.HISTORY_PAGE, asked, Listed(rows, listed.total))


@routes.route("/process-instances/{process_instance_key}/incidents", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessInstanceIncidents",
    query=shapes.INCIDENTS_QUERY,
    answers={200: shapes.INCIDENT_PAGE},
    refusals=(400, 413),
)
def get_process_instance_incidents(process_instance_key: str) -> Response:
    """getProcessInstanceIncidents: 200 and a page, empty for a key that names nothing; 400."""
    asked = http.query(routes.current_request, shapes.INCIDENTS_QUERY)
    is_resolved = {"resolved": True, "unresolved": False}.get(asked.get("state", ""))
    key = keys.instance_key(process_instance_key)
    listed = instances.get_process_instance_incidents(
        wiring.ports(), key, is_resolved, pages.cut(asked, BY_TIME)
    )
    return pages.answer(shapes.INCIDENT_PAGE, asked, listed)


@routes.route("/process-instances/{process_instance_key}/child-processes", content_types=[])
@errors_as(errors.error)
@Operation(
    "getChildProcessInstances",
    query=instance_shapes.CHILDREN_QUERY,
    answers={200: shapes.INSTANCE_PAGE},
    refusals=(400, 413),
)
def get_child_process_instances(process_instance_key: str) -> Response:
    """getChildProcessInstances: 200 and a page, empty for a key that names nothing; 400."""
    asked = http.query(routes.current_request, instance_shapes.CHILDREN_QUERY)
    listed = _children(keys.instance_key(process_instance_key), asked, BY_KEY)
    return pages.answer(shapes.INSTANCE_PAGE, asked, listed)


def _children(
    key: int, asked: Mapping[str, Any], order: Order, types: frozenset[str] | None = None
) -> Listed[InstanceView]:
    """Return the page of the children of one instance, or of a subprocess, that is asked for."""
    found = scopes.children(wiring.ports(), key)
    shown = [view(each) for each in found]
    shown = [child for child in shown if types is None or child.process_type in types]
    return _page(shown, asked, order)


def _with_scopes(asked: Mapping[str, Any]) -> Listed[InstanceView]:
    """Return the page of instances and of the scopes in them that is asked for.

    What has ended has nothing in it that goes on, and what began has nothing that began before.
    """
    goes_on = asked.get("state") in (ACTIVE, FAILED)
    wanted = WantedInstances(
        definition_keys=_definition_keys(asked),
        states=ASKED_STATES[ACTIVE][0] if goes_on else None,
        business_key=asked.get("businessKey"),
        created_to=asked.get("createdTo"),
        includes_parts=True,
    )
    listed = instances.get_process_instances_with_scopes(
        wiring.ports(), wanted, asked.get("bpmnProcessId")
    )
    page = _page([view(each) for each in listed.items], asked, ORDER)
    return Listed(page.items, page.total, listed.is_floor)


def _page(
    shown: Iterable[InstanceView], asked: Mapping[str, Any], order: Order
) -> Listed[InstanceView]:
    """Return the page that is asked for of those that are."""
    found = [each for each in shown if is_asked(each, asked)]
    cut = pages.cut(asked, order)
    found.sort(key=SORT_KEYS[cut.sort_by], reverse=not cut.ascending)
    return cut.page_of(found)


def _definition_keys(asked: Mapping[str, Any]) -> frozenset[int] | None:
    key = asked.get("processDefinitionKey")
    return None if key is None else frozenset({key})


def _time_to_live(text: str | None) -> timedelta | None:
    if text is None:
        return None
    try:
        return time_to_live(text)
    except ValueError as error:
        raise http.body_error(
            f'doesn\'t match schema: Error at "/historyTimeToLive": {error}'
        ) from error
