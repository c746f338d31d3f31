"""Where the text of an alarm goes: the log, a webhook in Slack's form, an email."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from chalicelib import logs
from chalicelib.runners.references import SecretMissing, Secrets
from chalicelib.scheduler.definition import Sink, SinkType

if TYPE_CHECKING:
    from mypy_boto3_sesv2 import SESV2Client

    from chalicelib.runners.client import Client

WEBHOOK_TIMEOUT = timedelta(seconds=5)
SENDER = "scheduler.alarmSender (SCHEDULER_ALARM_SENDER)"
SUBJECT_MAX = 200  # characters of the first line, which is an email's subject


class NotSent(Exception):
    """The receiver did not take it."""


@dataclass(frozen=True, slots=True)
class AlarmSinks:
    """Sends alarms; one that cannot be sent harms nobody, and an error in the log says so.

    Shapes: `client` makes the HTTP client, which the first webhook loads; `sender` is the address
        that emails come from, one that SES has verified.
    """

    client: Callable[[], Client]
    email: SESV2Client
    secrets: Secrets
    sender: str = ""

    def send(self, sink: Sink, text: str) -> None:
        """Tell one sink (ports.Alerts). The target of a webhook is a secret and never logged."""
        try:
            match sink.type:
                case SinkType.LOG:
                    logs.line(logging.WARNING, "alarm", text=text)
                case SinkType.WEBHOOK:
                    self._post(self.secrets.reveal(sink.target), text)
                case SinkType.EMAIL:
                    self._mail(sink.target, text)
                case _:
                    assert_never(sink.type)
        except (NotSent, SecretMissing) as error:
            logs.line(logging.ERROR, "alarm not sent", sink=sink.type.value, error=str(error))

    def _post(self, target: str, text: str) -> None:
        """Source: Slack API, "Sending messages using incoming webhooks"."""
        from chalicelib.runners import urls  # noqa: PLC0415
        from chalicelib.runners.client import NoAnswer  # noqa: PLC0415
        from chalicelib.runners.deadline import Deadline  # noqa: PLC0415
        from chalicelib.runners.requests import Request  # noqa: PLC0415

        body = json.dumps({"text": text}).encode()
        headers = (("Content-Type", "application/json"),)
        try:
            request = Request("POST", urls.parse(target), headers, body)
            answer = self.client().send(request, Deadline.after(WEBHOOK_TIMEOUT))
        except (urls.Unparseable, NoAnswer) as error:
            raise NotSent(str(error)) from error
        if not 200 <= answer.status <= 299:
            raise NotSent(f"expected a status from 200 to 299, found {answer.status}")

    def _mail(self, target: str, text: str) -> None:
        """Source: SES API v2, SendEmail."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        from chalicelib.runners.secrets import kind_of  # noqa: PLC0415

        if not self.sender:
            raise NotSent(f"emails need an address to come from, and {SENDER} is not set")
        try:
            self.email.send_email(
                FromEmailAddress=self.sender,
                Destination={"ToAddresses": [target]},
                Content={
                    "Simple": {
                        "Subject": {"Data": text.partition("\n")[0][:SUBJECT_MAX]},
                        "Body": {"Text": {"Data": text}},
                    }
                },
            )
        except (ClientError, BotoCoreError) as error:
            raise NotSent(f"SES did not take it: {kind_of(error)}") from error
