"""What clients asked for and what they were told: the acknowledgements to hold us to."""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.engine.state import Job
from chalicelib.json_text import JsonObject


@dataclass(frozen=True, slots=True)
class Delivery:
    """A job as a worker got it."""

    client_id: str
    job_key: int
    element_id: str
    token: int


@dataclass(slots=True)
class Ledger:
    """Asked and acknowledged, by what it was about. Acknowledged: the client got the answer."""

    starts: list[int] = field(default_factory=list)  # acknowledged, by instance key
    deliveries: list[Delivery] = field(default_factory=list)
    locks: list[Job] = field(default_factory=list)  # the jobs as they were delivered
    offered: dict[int, list[JsonObject]] = field(default_factory=dict)  # completions sent, by job
    completed: dict[int, str] = field(default_factory=dict)  # acknowledged, by job: element id
    deleted: list[int] = field(default_factory=list)  # definitions, by key
    starts_once: set[str] = field(default_factory=set)  # the keys that make starts safe to repeat
    failed: list[tuple[int, int | None]] = field(default_factory=list)  # acknowledged: job, token
    reported: set[tuple[int, int]] = field(default_factory=set)  # failures sent, likewise
    unnamed: list[int] = field(default_factory=list)  # failures sent that name no delivery, by job
    claimed: dict[int, set[str]] = field(default_factory=dict)  # acknowledged: user tasks, people
    cancelled: list[int] = field(default_factory=list)  # acknowledged, by instance key
    variables: dict[int, JsonObject] = field(default_factory=dict)  # acknowledged, by instance
    deployed: list[int] = field(default_factory=list)  # acknowledged, by definition key
    may_loop: bool = False  # whether a flow of the model may be taken more than once
    maps_outputs: bool = False  # whether each task of the model maps its token to <task>_done
    published: set[str] = field(default_factory=set)  # acknowledged, by idempotency key
    unmet: set[str] = field(default_factory=set)  # told that nobody waits, likewise
    asked_to_publish: set[str] = field(default_factory=set)
    moved: list[int] = field(default_factory=list)  # acknowledged, by instance key
    asked_to_cancel: set[int] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    def deliver(self, client_id: str, job: Job) -> None:
        """Note that a worker got a job, by a request that it does not repeat."""
        self.locks.append(job)
        self.deliveries.append(Delivery(client_id, job.key, job.element_id, job.delivery_token))

    def offer(self, job_key: int, variables: JsonObject) -> None:
        """Note that a completion was sent."""
        self.offered.setdefault(job_key, []).append(variables)
