"""The two kinds of workers of the demo: one that polls over HTTP, one on Lambda that is woken."""

from __future__ import annotations

import io
import sys
import threading
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from chalicelib.json_text import JsonObject
from chalicelib.local.client import Client, Refused, Unreachable

if TYPE_CHECKING:
    import boto3

WAIT = "PT5S"  # of one long poll
JOBS_MAX = 10  # of one long poll
PAUSE_S = 0.5  # after a poll that failed
FUNCTION_TIMEOUT_S = 30
BATCH = 10
CONCURRENCY = 2  # the least that SQS takes: each is a process on the laptop
ANY_ROLE = "arn:aws:iam::000000000000:role/demo"  # the emulator asks for one and looks at none

Work = Callable[[JsonObject], JsonObject]


@dataclass
class HttpWorker:
    """Polls for jobs of its types, one thread each, until it is stopped."""

    client: Client
    work: Mapping[str, Work]
    client_id: str = "http-worker"
    _ending: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        for job_type in self.work:
            threading.Thread(target=self._poll, args=(job_type,), daemon=True).start()

    def stop(self) -> None:
        """Ask for no more jobs; a poll that waits ends with its server or by itself."""
        self._ending.set()

    def _poll(self, job_type: str) -> None:
        while not self._ending.is_set():
            try:
                for job in self.client.activate(job_type, self.client_id, JOBS_MAX, WAIT):
                    self._do(job, self.work[job_type])
            except (Refused, Unreachable):
                self._ending.wait(PAUSE_S)

    def _do(self, job: JsonObject, work: Work) -> None:
        with suppress(Refused):  # the process no longer needs it, or its lock's bell rings again
            self.client.complete(int(job["key"]), work(job))


@dataclass(frozen=True)
class LambdaWorker:
    """A function of one file, subscribed to a queue of job bells."""

    session: boto3.session.Session
    name: str
    source: Path
    role: str = ANY_ROLE

    def subscribe(self, queue_arn: str, environment: Mapping[str, str]) -> None:
        """Deploy the function and map the queue to it, in place of what an earlier run left."""
        self.remove()
        functions = self.session.client("lambda")
        functions.create_function(
            FunctionName=self.name,
            Runtime=f"python3.{sys.version_info.minor}",
            Role=self.role,
            Handler=f"{self.source.stem}.handler",
            Code={"ZipFile": self._zip()},
            Timeout=FUNCTION_TIMEOUT_S,
            Environment={"Variables": dict(environment)},
        )
        functions.get_waiter("function_active_v2").wait(FunctionName=self.name)
        functions.create_event_source_mapping(
            FunctionName=self.name,
            EventSourceArn=queue_arn,
            BatchSize=BATCH,
            FunctionResponseTypes=["ReportBatchItemFailures"],
            ScalingConfig={"MaximumConcurrency": CONCURRENCY},
        )

    def remove(self) -> None:
        """Delete the function and its mappings, if they are there."""
        functions = self.session.client("lambda")
        with suppress(ClientError):
            mappings = functions.list_event_source_mappings(FunctionName=self.name)
            for mapping in mappings["EventSourceMappings"]:
                functions.delete_event_source_mapping(UUID=mapping["UUID"])
            functions.delete_function(FunctionName=self.name)

    def _zip(self) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.write(self.source, self.source.name)
        return packed.getvalue()
