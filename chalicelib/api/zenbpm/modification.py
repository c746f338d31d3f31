"""Moving tokens: starting elsewhere, ending element instances (contracts/zenbpm.md section 1.4),
activating what an ad-hoc subprocess has."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.job_results import activations_of
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import errors, instance_shapes, keys, shapes
from chalicelib.api.zenbpm.views import view
from chalicelib.engine.commands import ActivateElements, ModifyInstance
from chalicelib.operations import instances
from chalicelib.operations.instances import Start
from chalicelib.profile import Profile

routes = Blueprint(__name__)


@routes.route("/modify/start-process-instance", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "startProcessInstanceOnElements",
    headers={repeats.HEADER: repeats.KEY},
    body=instance_shapes.START_ON_ELEMENTS,
    answers={201: shapes.INSTANCE},
    refusals=(400, 404, 409, 413, 415),
)
def start_process_instance_on_elements() -> Response:
    """startProcessInstanceOnElements: 201 and the instance; 400, 404, 409, 413.

    It begins at the named elements and not at its start event; subprocesses around them are
    entered. `Idempotency-Key` is as for createProcessInstance.
    """
    body = http.json_body(routes.current_request, instance_shapes.START_ON_ELEMENTS)
    if not body["startingElementIds"]:
        raise http.body_error('Error at "/startingElementIds": minimum number of items is 1')
    wanted = Start(
        definition_key=body["processDefinitionKey"],
        profile=Profile.ZENBPM,
        variables=body.get("variables") or {},
        starting_elements=tuple(body["startingElementIds"]),
    )
    once = repeats.once(routes.current_request)
    found = instances.create_process_instance(wiring.ports(), wanted, once)
    logs.about(instance_key=found.key)
    return http.answer(201, shapes.INSTANCE.write(view(found)))


@routes.route("/modify/process-instance", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "modifyProcessInstance",
    headers={repeats.HEADER: repeats.KEY},
    body=instance_shapes.MODIFY_INSTANCE,
    answers={201: instance_shapes.MODIFIED},
    refusals=(400, 404, 409, 413, 415),
)
def modify_process_instance() -> Response:
    """modifyProcessInstance: 201 and the instance with what waits in it; 400, 404, 409, 413.

    First variables are set, then elements started, then element instances ended.
    """
    body = http.json_body(routes.current_request, instance_shapes.MODIFY_INSTANCE)
    key = body["processInstanceKey"]
    logs.about(instance_key=key)
    command = ModifyInstance(
        start=tuple(each["elementId"] for each in body.get("elementInstancesToStart") or ()),
        terminate=tuple(
            each["elementInstanceKey"] for each in body.get("elementInstancesToTerminate") or ()
        ),
        variables=body.get("variables") or {},
    )
    once = repeats.once(routes.current_request)
    found = instances.modify_process_instance(wiring.ports(), key, command, once)
    return http.answer(201, instance_shapes.MODIFIED.write(view(found)))


@routes.route(
    "/modify/ad-hoc-activities/{ad_hoc_sub_process_instance_key}/activation",
    methods=["POST"],
    content_types=[],
)
@errors_as(errors.error)
@Operation(
    "activateAdHocSubProcessActivities",
    headers={repeats.HEADER: repeats.KEY},
    body=instance_shapes.ACTIVATE_ELEMENTS,
    answers={204: None},
    refusals=(400, 404, 409, 413, 415),
)
def activate_ad_hoc_sub_process_activities(ad_hoc_sub_process_instance_key: str) -> Response:
    """activateAdHocSubProcessActivities: 204; 400, 404, 409 if nothing more can be activated, 413.

    The key is that of the ad-hoc subprocess's element instance. With `cancelRemainingInstances`
    what is active in it ends first.
    """
    key = keys.instance_key(ad_hoc_sub_process_instance_key, "adHocSubProcessInstanceKey")
    body = http.json_body(routes.current_request, instance_shapes.ACTIVATE_ELEMENTS)
    command = ActivateElements(
        key, activations_of(body["elements"]), bool(body.get("cancelRemainingInstances"))
    )
    once = repeats.once(routes.current_request)
    instances.activate_ad_hoc_sub_process_activities(wiring.ports(), command, once)
    return http.answer(204)
