"""Process instances: started, listed, read, changed, cancelled."""

from __future__ import annotations

from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, keys, pages, shapes
from chalicelib.api.priostack.views import ASKED_STATES, variables_of
from chalicelib.operations import definitions, instances, start_quota
from chalicelib.operations.instances import Start
from chalicelib.profile import Profile

NEWEST = -1  # as a version

routes = Blueprint(__name__)


@routes.route("/process-instances", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "createProcessInstance",
    headers={repeats.HEADER: repeats.KEY},
    body=shapes.START,
    answers={201: shapes.INSTANCE},
    refusals=(400, 402, 404, 409, 413, 415),
)
def create_process_instance() -> Response:
    """createProcessInstance: 201 and the instance as far as it ran; 400, 402, 404, 409.

    Without a version, or with -1, the newest one is started. With an `Idempotency-Key` a repeat
    gets the instance as it is now; another body gets the 409.
    """
    body = http.json_body(routes.current_request, shapes.START)
    with errors.called(keys.DEFINITION):
        wanted = _start(body)
        once = repeats.once(routes.current_request)
        found = start_quota.create_within_quota(wiring.ports(), wanted, once)
    logs.about(instance_key=found.key)
    return http.answer(201, shapes.INSTANCE.write(found.instance))


@routes.route("/process-instances", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessInstances",
    query=shapes.INSTANCES_QUERY,
    answers={200: shapes.INSTANCE_PAGE},
    refusals=(400, 413),
)
def get_process_instances() -> Response:
    """getProcessInstances: 200 and a page, the newest first; 400."""
    asked = http.query(routes.current_request, shapes.INSTANCES_QUERY)
    wanted, id_ = ASKED_STATES[asked.get("state")], asked.get("bpmnProcessId")
    listed = instances.get_process_instances(wiring.ports(), wanted, id_, pages.cut(asked))
    return pages.answer(shapes.INSTANCE_PAGE, [each.instance for each in listed.items], listed)


@routes.route("/process-instances/{process_instance_key}", content_types=[])
@errors_as(errors.error)
@Operation("getProcessInstance", answers={200: shapes.INSTANCE}, refusals=(404,))
def get_process_instance(process_instance_key: str) -> Response:
    """getProcessInstance: 200 and the instance; 404."""
    key = keys.instance_key(process_instance_key)
    with errors.called(keys.INSTANCE):
        found = instances.get_whole_instance(wiring.ports(), key)
    return http.answer(200, shapes.INSTANCE.write(found.instance))


@routes.route("/process-instances/{process_instance_key}/variables", content_types=[])
@errors_as(errors.error)
@Operation("getProcessInstanceVariables", answers={200: shapes.VARIABLES}, refusals=(404,))
def get_process_instance_variables(process_instance_key: str) -> Response:
    """getProcessInstanceVariables: 200 and the variables at the top of the instance; 404."""
    key = keys.instance_key(process_instance_key)
    with errors.called(keys.INSTANCE):
        found = instances.get_whole_instance(wiring.ports(), key)
    return http.answer(200, shapes.VARIABLES.write(variables_of(found.instance)))


@routes.route(
    "/process-instances/{process_instance_key}/variables", methods=["PATCH"], content_types=[]
)
@errors_as(errors.error)
@Operation(
    "updateProcessInstanceVariables",
    body=shapes.SET_VARIABLES,
    answers={200: shapes.VARIABLES},
    refusals=(400, 404, 409, 413, 415),
)
def update_process_instance_variables(process_instance_key: str) -> Response:
    """updateProcessInstanceVariables: 200 and all of them, merged; 400, 404, 409 if it ended."""
    key = keys.instance_key(process_instance_key)
    body = http.json_body(routes.current_request, shapes.SET_VARIABLES)
    ports = wiring.ports()
    with errors.called(keys.INSTANCE):
        instances.get_whole_instance(ports, key)
        instances.update_process_instance_variables(ports, key, body["variables"])
        found = instances.get_whole_instance(ports, key)
    return http.answer(200, shapes.VARIABLES.write(variables_of(found.instance)))


@routes.route(
    "/process-instances/{process_instance_key}/cancel", methods=["POST"], content_types=[]
)
@errors_as(errors.error)
@Operation("cancelProcessInstance", answers={200: shapes.DONE}, refusals=(404, 409, 413))
def cancel_process_instance(process_instance_key: str) -> Response:
    """cancelProcessInstance: 200, its jobs end with it; 404, 409 if it has ended."""
    return _cancelled(process_instance_key)


@routes.route("/process-instances/{process_instance_key}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("deleteProcessInstance", answers={200: shapes.DONE}, refusals=(404, 409, 413))
def delete_process_instance(process_instance_key: str) -> Response:
    """deleteProcessInstance: the same as to cancel it."""
    return _cancelled(process_instance_key)


def _cancelled(process_instance_key: str) -> Response:
    key = keys.instance_key(process_instance_key)
    with errors.called(keys.INSTANCE):
        instances.get_whole_instance(wiring.ports(), key)
        instances.cancel_process_instance(wiring.ports(), key)
    return http.answer(200, shapes.DONE.write(None))


def _start(body: dict[str, Any]) -> Start:
    """Return what to start. Raises: Rejected(NOT_FOUND) for a version that is not there."""
    key, id_ = body.get("processDefinitionKey"), body.get("bpmnProcessId")
    version = body.get("version")
    if key is None and id_ is None:
        raise http.body_error('doesn\'t match schema: property "bpmnProcessId" is missing')
    if key is None and id_ is not None and version not in (None, NEWEST):
        key = definitions.version_of(wiring.ports(), id_, version, Profile.PRIOSTACK).key
    return Start(
        definition_key=key,
        bpmn_process_id=id_,
        profile=Profile.PRIOSTACK,
        variables=body.get("variables") or {},
    )
