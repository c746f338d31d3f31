"""Process definitions: deployed, read, listed (contracts/zenbpm.md section 1.3)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.xml_text import as_text
from chalicelib.api.zenbpm import errors, pages, shapes, uploads
from chalicelib.api.zenbpm.pages import Order
from chalicelib.operations import definitions
from chalicelib.operations.definitions import WantedDefinitions
from chalicelib.profile import Profile

_ORDER = Order(
    {
        "key": "key",
        "version": "version",
        "bpmnProcessId": "bpmn_process_id",
        "bpmnProcessName": "name",
        "name": "name",
    },
    default="key",
)

routes = Blueprint(__name__)


@routes.route("/process-definitions", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "createProcessDefinition",
    answers={200: shapes.DEPLOYED, 201: shapes.DEPLOYED},
    refusals=(400, 413, 415),
    upload=(*uploads.RAW, uploads.FORM),
)
def create_process_definition() -> Response:
    """createProcessDefinition: 201, or 200 if the latest says the same; 400, 413, 415."""
    xml = uploads.uploaded(routes.current_request)
    deployed = definitions.create_process_definition(wiring.ports(), xml, Profile.ZENBPM)
    key = deployed.definitions[0].key
    logs.about(process_definition_key=key)
    return http.answer(201 if deployed.created else 200, shapes.DEPLOYED.write(key))


@routes.route("/process-definitions", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessDefinitions",
    query=shapes.DEFINITIONS_QUERY,
    answers={200: shapes.DEFINITION_PAGE},
    refusals=(400, 413),
)
def get_process_definitions() -> Response:
    """getProcessDefinitions: 200 and a page; 400."""
    asked = http.query(routes.current_request, shapes.DEFINITIONS_QUERY)
    wanted = WantedDefinitions(
        bpmn_process_id=asked.get("bpmnProcessId"),
        search=asked.get("search"),
        only_latest=asked.get("onlyLatest", False),
    )
    cut = pages.cut(asked, _ORDER)
    listed = definitions.get_process_definitions(wiring.ports(), wanted, cut)
    return pages.answer(shapes.DEFINITION_PAGE, asked, listed)


@routes.route("/process-definitions/{process_definition_key}", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessDefinition",
    path={"process_definition_key": shapes.DEFINITION_KEY},
    answers={200: shapes.DEFINITION_DETAIL},
    refusals=(400, 404, 413),
)
def get_process_definition(process_definition_key: str) -> Response:
    """getProcessDefinition: 200 with the XML; 400 for keys below 1, 404."""
    key = http.path_key(process_definition_key, "processDefinitionKey", shapes.DEFINITION_KEY)
    definition, xml = definitions.get_process_definition(wiring.ports(), key)
    found = (definition, as_text(xml))
    return http.answer(200, shapes.DEFINITION_DETAIL.write(found))


@routes.route("/process-definitions/{process_definition_key}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation(
    "deleteProcessDefinition",
    path={"process_definition_key": shapes.DEFINITION_KEY},
    answers={204: None},
    refusals=(400, 404),
)
def delete_process_definition(process_definition_key: str) -> Response:
    """deleteProcessDefinition: 204, it starts nothing any more; 400 for keys below 1, 404."""
    key = http.path_key(process_definition_key, "processDefinitionKey", shapes.DEFINITION_KEY)
    definitions.delete_process_definition(wiring.ports(), key)
    return http.answer(204)
