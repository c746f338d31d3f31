"""Alarms go to the log, to a webhook through the guard, and by email; none harms its sender."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from chalicelib.runners.addresses import refuse_nothing, why_refused
from chalicelib.runners.client import Client
from chalicelib.runners.guard import Judge
from chalicelib.runners.sinks import AlarmSinks
from chalicelib.scheduler.definition import Sink, SinkType
from tests.fakes.runner import MemorySecrets
from tests.runners.site import Site, answer

TEXT = "drain failed 3 times in 10 minutes\nlast: found 500"


@pytest.fixture
def email() -> Any:
    return boto3.client(
        "sesv2",
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def sinks(email: Any = None, judge: Judge = refuse_nothing, sender: str = "") -> AlarmSinks:
    secrets = MemorySecrets({"ssm:hook": "http://127.0.0.1:1/T0/s3cret"})
    return AlarmSinks(lambda: Client(judge), email, secrets, sender)


def test_the_log_is_told(lines: list[dict[str, Any]]) -> None:
    sinks().send(Sink(SinkType.LOG), TEXT)

    (line,) = lines
    assert ("WARNING", "alarm", TEXT) == (line["level"], line["message"], line["text"])


def test_a_webhook_gets_slacks_form(lines: list[dict[str, Any]]) -> None:
    with Site(answer(200, b"ok")) as site:
        sinks().send(Sink(SinkType.WEBHOOK, f"{site.url}/services/T0"), TEXT)

    head, _, body = site.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /services/T0 HTTP/1.1\r\n")
    assert b"Content-Type: application/json" in head
    assert {"text": TEXT} == json.loads(body)
    assert [] == lines


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("ssm:hook", "could not connect to 127.0.0.1: Connection refused"),
        ("ssm:gone", "could not read the secret ssm:gone"),
        ("https:/s3cret", "expected a URL that begins with http"),
    ],
)
def test_a_webhook_that_fails_is_logged_without_its_url(
    lines: list[dict[str, Any]], target: str, words: str
) -> None:
    sinks().send(Sink(SinkType.WEBHOOK, target), TEXT)

    (line,) = lines
    assert ("ERROR", "alarm not sent") == (line["level"], line["message"])
    assert words in line["error"]
    assert "s3cret" not in str(line)


def test_a_webhook_that_refuses_is_logged(lines: list[dict[str, Any]]) -> None:
    with Site(answer(403)) as site:
        sinks().send(Sink(SinkType.WEBHOOK, site.url), TEXT)

    assert "expected a status from 200 to 299, found 403" == lines[0]["error"]


def test_a_webhook_passes_the_guard(lines: list[dict[str, Any]]) -> None:
    with Site() as site:
        sinks(judge=why_refused).send(Sink(SinkType.WEBHOOK, site.url), TEXT)

    assert [] == site.requests
    assert "127.0.0.1 is loopback" in lines[0]["error"]


def test_an_email_has_the_first_line_for_its_subject(
    email: Any, lines: list[dict[str, Any]]
) -> None:
    expected = {
        "FromEmailAddress": "alarms@example.com",
        "Destination": {"ToAddresses": ["ops@example.com"]},
        "Content": {
            "Simple": {
                "Subject": {"Data": "drain failed 3 times in 10 minutes"},
                "Body": {"Text": {"Data": TEXT}},
            }
        },
    }
    with Stubber(email) as stub:
        stub.add_response("send_email", {"MessageId": "1"}, expected)
        sinks(email, sender="alarms@example.com").send(
            Sink(SinkType.EMAIL, "ops@example.com"), TEXT
        )
        stub.assert_no_pending_responses()

    assert [] == lines


def test_an_email_that_ses_refuses_is_logged(email: Any, lines: list[dict[str, Any]]) -> None:
    with Stubber(email) as stub:
        stub.add_client_error("send_email", "MessageRejected")
        sinks(email, sender="alarms@example.com").send(Sink(SinkType.EMAIL, "a@b"), TEXT)

    assert "SES did not take it: MessageRejected" == lines[0]["error"]


def test_without_a_sender_no_email_is_sent(lines: list[dict[str, Any]]) -> None:
    sinks().send(Sink(SinkType.EMAIL, "ops@example.com"), TEXT)

    assert "SCHEDULER_ALARM_SENDER" in lines[0]["error"]
