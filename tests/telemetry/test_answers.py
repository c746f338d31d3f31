"""What is counted and traced of an HTTP request, once it is answered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import app
from chalicelib import logs, wiring
from chalicelib.logs import Answered
from chalicelib.ports import Ports
from chalicelib.telemetry import spans
from chalicelib.telemetry.journal import LinesAndMore
from tests.api.client import Client
from tests.fakes.chance import SeededChance
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable
from tests.telemetry.told import Seen, Told

ANSWERED = Answered("GET", "/v1/jobs/{job_key}", 404, 0, 45, 12.5)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Answered]]:
    """Collect what is told of each request of the app over fakes, in place of the journal."""
    told: list[Answered] = []
    clock = ManualClock()
    queues = MemoryQueues(clock)
    fakes = Ports(MemoryTable(), queues, MemorySchedules(clock, queues), clock, SeededChance())
    monkeypatch.setattr(wiring, "ports", lambda: fakes)
    logs.at_end(lambda answered: told.append(answered) if answered else None)
    yield told
    logs.at_end(wiring.after_invocation)


def test_a_request_is_told_once_under_its_route(answers: list[Answered]) -> None:
    answer = Client(app).get("/v1/jobs/none")

    (told,) = answers
    assert ("GET", "/v1/jobs/{job_key}", 400) == told[:3]
    assert (0, len(answer.text.encode())) == (told.request_bytes, told.response_bytes)
    assert told.lasted_ms >= 0


def test_a_request_that_no_route_serves_is_told_under_the_one_path_for_all(
    answers: list[Answered],
) -> None:
    for path in ("/nothing", "/of/this/kind"):
        Client(app).post(path, b"\xff" * 10)

    assert [("POST", "/{proxy+}", 404, 10)] * 2 == [told[:4] for told in answers]


def test_a_body_that_is_no_text_is_told_and_answered(answers: list[Answered]) -> None:
    event = {
        "path": "/nothing",
        "httpMethod": "POST",
        "headers": {},
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": "nothing"},
        "stageVariables": None,
        "requestContext": {"httpMethod": "POST", "resourcePath": "/{proxy+}"},
        "body": "\ud800",
        "isBase64Encoded": False,
    }

    assert 404 == app(event, None)["statusCode"]
    assert [0] == [told.request_bytes for told in answers]


def test_an_answer_is_counted_under_the_published_names() -> None:
    stage = Told()

    stage.journal.end(ANSWERED)

    route = {"path": "/v1/jobs/{job_key}", "method": "GET", "status": "404"}
    assert [
        ("request_total", {}, 1),
        ("request_uri_total", route, 1),
        ("request_body_size", {}, 0),
        ("response_body_size", {}, 45),
        ("request_duration", {}, 12.5),
    ] == stage.points


def test_its_span_is_named_after_the_route_and_has_a_place_after_all_others(lines: Seen) -> None:
    stage = Told()
    for _ in range(spans.SPANS_MAX // 2):
        stage.create("one_task.bpmn")
        stage.work("charge")

    stage.journal.end(ANSWERED)

    assert spans.SPANS_MAX == len(stage.spans)
    last = stage.spans[-1]
    assert "/v1/jobs/:job_key" == last["name"]
    assert {"http_request_method": "GET", "http_response_status_code": 404}.items() <= last[
        "annotations"
    ].items()


def test_what_is_no_request_ends_without_an_answer() -> None:
    stage = Told()

    stage.journal.end(None)

    assert ([], []) == (stage.points, stage.spans)


def test_a_journal_that_hands_nothing_on_keeps_nothing() -> None:
    journal = LinesAndMore()

    journal.end(ANSWERED)

    assert LinesAndMore() == journal
