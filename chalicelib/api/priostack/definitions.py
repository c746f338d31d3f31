"""Process definitions: deployed, listed, read. Every deployment is a new version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import Answer, errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, keys, pages, shapes, uploads
from chalicelib.api.xml_text import as_text
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import definitions, dmn_definitions
from chalicelib.operations.definitions import WantedDefinitions
from chalicelib.profile import Profile
from chalicelib.store.definitions import DefinitionInfo
from chalicelib.store.dmn_definitions import DmnDefinitionInfo

XML = "application/xml"

routes = Blueprint(__name__)


@routes.route("/process-definitions", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "createProcessDefinition",
    answers={201: shapes.DEPLOYED},
    refusals=(400, 413, 415, 422),
    upload=uploads.TAKEN,
)
def create_process_definition() -> Response:
    """createProcessDefinition: 201 and what is new; 400 for what is no XML, 413, 422.

    The file is the body, or a part of a form, or the member `xml` of a JSON object. Of a file of
    several processes all are named in `definitions`, of a DMN file its `decisions`. A refused
    file uses up no version number.
    """
    xml = uploads.uploaded(routes.current_request)
    found = _decisions(xml) if uploads.is_of_decisions(xml) else _processes(xml)
    logs.about(process_definition_key=found[0].key)
    return http.answer(201, shapes.DEPLOYED.write(found))


@routes.route("/process-definitions", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessDefinitions",
    query=shapes.DEFINITIONS_QUERY,
    answers={200: shapes.DEFINITION_PAGE},
    refusals=(400, 413),
)
def get_process_definitions() -> Response:
    """getProcessDefinitions: 200 and a page of what was deployed here, the newest first; 400."""
    asked = http.query(routes.current_request, shapes.DEFINITIONS_QUERY)
    wanted = WantedDefinitions(
        bpmn_process_id=asked.get("bpmnProcessId"),
        only_latest=asked.get("latest", False),
        profile=Profile.PRIOSTACK,
    )
    cut = pages.cut(asked, sort_by="key")
    listed = definitions.get_process_definitions(wiring.ports(), wanted, cut)
    return pages.answer(shapes.DEFINITION_PAGE, listed.items, listed)


@routes.route("/process-definitions/{process_definition_key}", content_types=[])
@errors_as(errors.error)
@Operation("getProcessDefinition", answers={200: shapes.DEFINITION}, refusals=(404,))
def get_process_definition(process_definition_key: str) -> Response:
    """getProcessDefinition: 200 and the definition; 404."""
    key = keys.definition_key(process_definition_key)
    with errors.called(keys.DEFINITION):
        found = definitions.require(wiring.ports(), key)
    return http.answer(200, shapes.DEFINITION.write(found))


@routes.route("/process-definitions/{process_definition_key}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("deleteProcessDefinition", answers={200: shapes.DONE}, refusals=(404,))
def delete_process_definition(process_definition_key: str) -> Response:
    """deleteProcessDefinition: 200, it starts nothing any more; 404."""
    key = keys.definition_key(process_definition_key)
    with errors.called(keys.DEFINITION):
        definitions.delete_process_definition(wiring.ports(), key)
    return http.answer(200, shapes.DONE.write(None))


@routes.route("/process-definitions/{process_definition_key}/xml", content_types=[])
@errors_as(errors.error)
@Operation("getProcessDefinitionXml", answers={200: None}, refusals=(404,), raw=XML)
def get_process_definition_xml(process_definition_key: str) -> Response:
    """getProcessDefinitionXml: 200 and the file that was deployed; 404."""
    key = keys.definition_key(process_definition_key)
    with errors.called(keys.DEFINITION):
        _, xml = definitions.get_process_definition(wiring.ports(), key)
    return Answer(as_text(xml), {"Content-Type": f"{XML}; charset=utf-8"}, 200)


def _processes(xml: bytes) -> Sequence[DefinitionInfo]:
    """Deploy a file of processes. Raises: ModelRefused; Rejected."""
    with _refusing():
        deployed = definitions.create_process_definition(wiring.ports(), xml, Profile.PRIOSTACK)
    return deployed.definitions


def _decisions(xml: bytes) -> Sequence[DmnDefinitionInfo]:
    """Deploy a file of decisions. Raises: ModelRefused; Rejected."""
    with _refusing():
        info, _ = dmn_definitions.create_dmn_resource_definition(
            wiring.ports(), xml, Profile.PRIOSTACK
        )
    return [info]


@contextmanager
def _refusing() -> Iterator[None]:
    """Tell XML that is no model of ours from what is no XML. Raises: ModelRefused; Rejected."""
    try:
        yield
    except Rejected as problem:
        is_model = problem.reason is Reason.INVALID_ARGUMENT and "is_malformed" not in (
            problem.details
        )
        if is_model:
            raise errors.ModelRefused(problem.message) from problem
        raise
