"""A runner that says what it was told to, and who is told of alarms, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from chalicelib.runners.references import SecretMissing
from chalicelib.scheduler.definition import ScheduledJob, Sink
from chalicelib.scheduler.rows import Attempt, Outcome, Row
from tests.fakes.clock import ManualClock


@dataclass(frozen=True)
class Said:
    """What one attempt comes to, and how long it takes."""

    outcome: Outcome = Outcome.SUCCEEDED
    output: bytes = b""
    error: str = ""
    status_code: int | None = None
    takes_s: float = 0
    secrets: tuple[str, ...] = ()


def remaining(number: int) -> Said:
    """Return a success that says how much is left, where a loop looks by default."""
    return Said(output=b'{"result":{"remaining":%d}}' % number, status_code=200)


FAILED = Said(Outcome.FAILED, error="expected a status from 200 to 299, found 500", status_code=500)
CANCELLED = Said(Outcome.CANCELLED, error="http.url: the URL has no host")


class Made(NamedTuple):
    """One attempt that was made."""

    job_id: str
    run_id: str
    pool_idx: int
    iteration: int
    attempt: int


class ScriptedRunner:
    """Makes attempts that come to what was said, one after the other; the last again and again."""

    def __init__(self, clock: ManualClock, *said: Said) -> None:
        self._clock = clock
        self.said = list(said) or [Said()]
        self.made: list[Made] = []

    def run(self, job: ScheduledJob, row: Row, timeout: timedelta) -> Attempt:
        said = self.said[min(len(self.made), len(self.said) - 1)]
        self.made.append(Made(job.id, row.run_id, row.pool_idx, row.iteration, row.attempt))
        started_at = self._clock.now()
        if said.takes_s:
            self._clock.move(said.takes_s)
        return Attempt(
            said.outcome,
            started_at,
            self._clock.now(),
            status_code=said.status_code,
            error=said.error,
            output=said.output,
            secrets=said.secrets,
        )


class MemoryAlerts:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[Sink, str]] = []

    def send(self, sink: Sink, text: str) -> None:
        self.sent.append((sink, text))


class MemorySecrets:
    """Secrets by their references."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._secrets = dict(secrets or {})

    def reveal(self, text: str) -> str:
        if text.startswith(("ssm:", "secretsmanager:")):
            if text not in self._secrets:
                raise SecretMissing(f"could not read the secret {text}: ParameterNotFound")
            return self._secrets[text]
        return text
