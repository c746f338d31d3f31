"""Statistics of definitions and instances (contracts/zenbpm.md sections 1.3 and 1.4)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.schema import Object
from chalicelib.api.zenbpm import errors, instance_shapes, pages, shapes
from chalicelib.api.zenbpm.pages import Order
from chalicelib.operations import statistics
from chalicelib.operations.definitions import WantedDefinitions
from chalicelib.operations.statistics import Elements

ORDER = Order(
    {
        "name": "name",
        "bpmnProcessId": "bpmn_process_id",
        "version": "version",
        "instanceCount": "instances",
        "incidentCount": "incidents",
    },
    default="key",
)

routes = Blueprint(__name__)


@routes.route("/process-definitions/statistics", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessDefinitionStatistics",
    query=instance_shapes.DEFINITION_STATISTICS_QUERY,
    answers={200: instance_shapes.DEFINITION_STATISTICS_PAGE},
    refusals=(400, 413),
)
def get_process_definition_statistics() -> Response:
    """getProcessDefinitionStatistics: 200 and a page of definitions with their instances; 400."""
    asked = http.query(routes.current_request, instance_shapes.DEFINITION_STATISTICS_QUERY)
    wanted = WantedDefinitions(
        search=asked.get("search"),
        only_latest=asked.get("onlyLatest", False),
        keys=frozenset(asked.get("bpmnProcessDefinitionKeyIn", ())),
        bpmn_process_ids=frozenset(asked.get("bpmnProcessIdIn", ())),
    )
    cut = pages.cut(asked, ORDER)
    listed = statistics.get_process_definition_statistics(wiring.ports(), wanted, cut)
    return pages.answer(instance_shapes.DEFINITION_STATISTICS_PAGE, asked, listed)


@routes.route("/process-definitions/{process_definition_key}/statistics", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessDefinitionElementStatistics",
    path={"process_definition_key": shapes.DEFINITION_KEY},
    answers={200: instance_shapes.DEFINITION_ELEMENTS},
    refusals=(400, 404),
)
def get_process_definition_element_statistics(process_definition_key: str) -> Response:
    """getProcessDefinitionElementStatistics: 200; 400 for keys below 1, 404."""
    key = http.path_key(process_definition_key, "processDefinitionKey", shapes.DEFINITION_KEY)
    logs.about(process_definition_key=key)
    elements = statistics.get_process_definition_element_statistics(wiring.ports(), key)
    return _answer(instance_shapes.DEFINITION_ELEMENTS, elements)


@routes.route("/process-instances/{process_instance_key}/statistics", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessInstanceElementStatistics",
    path={"process_instance_key": shapes.DEFINITION_KEY},
    answers={200: instance_shapes.INSTANCE_ELEMENTS},
    refusals=(400, 404),
)
def get_process_instance_element_statistics(process_instance_key: str) -> Response:
    """getProcessInstanceElementStatistics: 200; 400 for keys below 1, 404."""
    key = http.path_key(process_instance_key, "processInstanceKey", shapes.DEFINITION_KEY)
    logs.about(instance_key=key)
    elements = statistics.get_process_instance_element_statistics(wiring.ports(), key)
    return _answer(instance_shapes.INSTANCE_ELEMENTS, elements)


def _answer(shape: Object, elements: Elements) -> Response:
    return http.answer(200, shape.write(elements), http.floor_headers(elements.is_floor))
