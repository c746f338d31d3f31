"""DMN files: deployed, read, listed (contracts/zenbpm.md section 1.3)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.xml_text import as_text
from chalicelib.api.zenbpm import dmn_shapes, errors, pages, shapes, uploads
from chalicelib.api.zenbpm.pages import Order
from chalicelib.operations import dmn_definitions
from chalicelib.operations.dmn_definitions import WantedDmnDefinitions
from chalicelib.profile import Profile

ORDER = Order(
    {
        "key": "key",
        "version": "version",
        "dmnResourceDefinitionId": "resource_id",
        "dmnDefinitionName": "name",
    },
    default="key",
)

routes = Blueprint(__name__)


@routes.route("/dmn-resource-definitions", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "createDmnResourceDefinition",
    answers={200: dmn_shapes.DEPLOYED, 201: dmn_shapes.DEPLOYED},
    refusals=(400, 413, 415),
    upload=(*uploads.RAW, uploads.FORM),
)
def create_dmn_resource_definition() -> Response:
    """createDmnResourceDefinition: 201, or 200 if the latest says the same; 400, 413, 415."""
    xml = uploads.uploaded(routes.current_request)
    info, created = dmn_definitions.create_dmn_resource_definition(
        wiring.ports(), xml, Profile.ZENBPM
    )
    logs.about(dmn_resource_definition_key=info.key)
    return http.answer(201 if created else 200, dmn_shapes.DEPLOYED.write(info.key))


@routes.route("/dmn-resource-definitions", content_types=[])
@errors_as(errors.error)
@Operation(
    "getDmnResourceDefinitions",
    query=dmn_shapes.DEFINITIONS_QUERY,
    answers={200: dmn_shapes.DEFINITION_PAGE},
    refusals=(400, 413),
)
def get_dmn_resource_definitions() -> Response:
    """getDmnResourceDefinitions: 200 and a page, in descending order; 400."""
    asked = http.query(routes.current_request, dmn_shapes.DEFINITIONS_QUERY)
    wanted = WantedDmnDefinitions(
        resource_id=asked.get("dmnResourceDefinitionId"),
        name=asked.get("dmnDefinitionName"),
        search=asked.get("search"),
        only_latest=asked.get("onlyLatest", False),
    )
    cut = pages.cut({"sortOrder": "desc", **asked}, ORDER)
    listed = dmn_definitions.get_dmn_resource_definitions(wiring.ports(), wanted, cut)
    return pages.answer(dmn_shapes.DEFINITION_PAGE, asked, listed)


@routes.route("/dmn-resource-definitions/{dmn_resource_definition_key}", content_types=[])
@errors_as(errors.error)
@Operation(
    "getDmnResourceDefinition",
    path={"dmn_resource_definition_key": shapes.DEFINITION_KEY},
    answers={200: dmn_shapes.DEFINITION_DETAIL},
    refusals=(400, 404, 413),
)
def get_dmn_resource_definition(dmn_resource_definition_key: str) -> Response:
    """getDmnResourceDefinition: 200 with the XML; 400 for keys below 1, 404."""
    kind = shapes.DEFINITION_KEY
    key = http.path_key(dmn_resource_definition_key, "dmnResourceDefinitionKey", kind)
    definition, xml = dmn_definitions.get_dmn_resource_definition(wiring.ports(), key)
    found = (definition, as_text(xml))
    return http.answer(200, dmn_shapes.DEFINITION_DETAIL.write(found))


@routes.route(
    "/dmn-resource-definitions/{dmn_resource_definition_key}",
    methods=["DELETE"],
    content_types=[],
)
@errors_as(errors.error)
@Operation(
    "deleteDmnResourceDefinition",
    path={"dmn_resource_definition_key": shapes.DEFINITION_KEY},
    answers={204: None},
    refusals=(400, 404, 413),
)
def delete_dmn_resource_definition(dmn_resource_definition_key: str) -> Response:
    """deleteDmnResourceDefinition: 204, its decisions are made by others; 400, 404, 413."""
    kind = shapes.DEFINITION_KEY
    key = http.path_key(dmn_resource_definition_key, "dmnResourceDefinitionKey", kind)
    dmn_definitions.delete_dmn_resource_definition(wiring.ports(), key)
    return http.answer(204)
