"""A stage with everything in memory: the operations as they are, over the fakes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from chalicelib.delivery import commands, timers
from chalicelib.delivery.promise import job_queue
from chalicelib.engine.commands import CompleteJob, CreateInstance, FailJob
from chalicelib.engine.state import Instance, InstanceState, Job, RecordKey, Variables
from chalicelib.json_text import JsonObject
from chalicelib.operations import claims
from chalicelib.operations.advance import advance, start
from chalicelib.operations.claims import Activation
from chalicelib.operations.definitions import create_process_definition
from chalicelib.operations.failures import fail_job
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Ports, Settings
from chalicelib.profile import Profile
from chalicelib.store import definitions, instances, jobs
from chalicelib.store.definitions import Definition
from chalicelib.triggers.commands import on_commands
from chalicelib.triggers.timers import on_timers
from tests.fakes.chance import SeededChance
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable
from tests.play import DIAGRAMS, to_json

LOCK = timedelta(seconds=30)
TRIGGER_VISIBILITY_S = 180


class Stage:
    """Ports in memory, a definition or more, and verbs that read like the domain."""

    def __init__(
        self,
        settings: Settings | None = None,
        queues: type[MemoryQueues] = MemoryQueues,
        clock: ManualClock | None = None,
    ) -> None:
        self.clock = clock or ManualClock()
        self.table = MemoryTable()
        self.queues = queues(self.clock)
        self.schedules = MemorySchedules(self.clock, self.queues)
        self.chance = SeededChance()
        self.ports = Ports(
            self.table,
            self.queues,
            self.schedules,
            self.clock,
            self.chance,
            settings or Settings(),
        )

    def deploy(self, source: str | bytes, profile: Profile = Profile.ZENBPM) -> Definition:
        """Deploy a file of tests/diagrams, or XML."""
        xml = source if isinstance(source, bytes) else (DIAGRAMS / Path(source)).read_bytes()
        deployed = create_process_definition(self.ports, xml, profile)
        definition = definitions.get(self.table, deployed.definitions[0].key)
        assert definition is not None
        return definition

    def create(self, source: str | bytes | Definition, **variables: Any) -> int:
        """Start an instance; return its key."""
        definition = source if isinstance(source, Definition) else self.deploy(source)
        command = CreateInstance(
            definition.key, definition.version, definition.profile, to_json(variables)
        )
        return start(self.ports, definition, command).after.key

    def activate(
        self, type_: str, client: str = "a", max_jobs: int = 1, wait_s: int = 0
    ) -> list[Job]:
        """Ask for jobs, as an HTTP worker does."""
        asked = Activation(type_, Claimant(client, LOCK), max_jobs, timedelta(seconds=wait_s))
        return claims.activate(self.ports, asked)

    def claim(self, key: int, client: str = "a", bell: str | None = None) -> Job:
        """Claim a job by its key, as a Lambda worker does."""
        return claims.claim_by_key(self.ports, key, Claimant(client, LOCK), bell)

    def complete(self, job: Job | int, **variables: Any) -> None:
        """Complete a job."""
        key = job if isinstance(job, int) else job.key
        advance(self.ports, key, CompleteJob(key, to_json(variables)))

    def work(self, type_: str, **variables: Any) -> Job:
        """Activate one job of a type and complete it."""
        (job,) = self.activate(type_)
        self.complete(job, **variables)
        return job

    def fail(self, job: Job | int, message: str = "it broke", **said: Any) -> None:
        """Report a failure."""
        key = job if isinstance(job, int) else job.key
        fail_job(self.ports, FailJob(key, message, **said))

    def pump(self) -> int:
        """Let the functions behind `timers` and `commands` serve what is visible; count it."""
        return sum(
            self._serve(queue, serve)
            for queue, serve in ((timers.QUEUE, on_timers), (commands.QUEUE, on_commands))
        )

    def wait(self, seconds: float) -> None:
        """Let time pass, and the functions serve what becomes visible meanwhile."""
        end = self.clock.now() + timedelta(seconds=seconds)
        while self.clock.now() < end:
            self.pump()
            self.clock.move(min(1.0, (end - self.clock.now()).total_seconds()))
        self.pump()

    def instance(self, key: int) -> Instance:
        """Return an instance whole."""
        instance = instances.load(self.table, key, None)
        assert instance is not None
        return instance

    def variables(self, key: int) -> JsonObject:
        """Return the variables of an instance's own scope."""
        record = self.instance(key).records.get(RecordKey(Variables, key))
        return record.values if isinstance(record, Variables) else {}

    def state(self, key: int) -> InstanceState:
        """Return the state of an instance."""
        return self.instance(key).root.state

    def job(self, key: int) -> Job:
        """Return a job as it is stored."""
        return jobs.read(self.table, [key])[key]

    def jobs_of(self, key: int) -> list[Job]:
        """Return the jobs of an instance."""
        return [record for record in self.instance(key).records.values() if isinstance(record, Job)]

    def bells(self, job: Job) -> list[str]:
        """Return the bodies of all bells in a job's queue."""
        return self.queues.bodies(job_queue(self.ports, job.kind, job.type, job.profile))

    def queue(self, type_: str) -> str:
        """Return the name of the queue of a type."""
        return job_queue(self.ports, "bpmn", type_, Profile.ZENBPM)

    def _serve(self, queue: str, serve: Any) -> int:
        served = 0
        while received := self.queues.receive(queue, 10, TRIGGER_VISIBILITY_S, 0):
            messages: Sequence[tuple[str, str]] = [(each.receipt, each.body) for each in received]
            failed = set(serve(self.ports, messages))
            done = [receipt for receipt, _ in messages if receipt not in failed]
            self.queues.delete(queue, done)
            served += len(done)
        return served
