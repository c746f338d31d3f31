"""What Priostack shows of our records: its states, its codes, its deadline.

None of its words is stored: they are projected (contracts/dialects.md rows 9, 16, 17 and 18).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.engine.state import (
    Incident,
    Instance,
    InstanceState,
    Job,
    RecordKey,
    Root,
    Variables,
)
from chalicelib.engine.stuck import ErrorType
from chalicelib.json_text import JsonObject
from chalicelib.store import lists
from chalicelib.store.lists import WantedInstances
from chalicelib.store.moments import to_ms

DEADLINE = timedelta(milliseconds=300_000)  # of a job, from its activation on; it ends nothing
INCIDENT = "INCIDENT"

_ENDED: Mapping[InstanceState, str] = {
    InstanceState.COMPLETED: "COMPLETED",
    InstanceState.TERMINATING: "TERMINATED",
    InstanceState.TERMINATED: "TERMINATED",
}
_OPEN = frozenset({InstanceState.ACTIVE})
ASKED_STATES: Mapping[str | None, WantedInstances] = {
    None: WantedInstances(),
    "ACTIVE": WantedInstances(states=_OPEN, has_incident=False),
    INCIDENT: WantedInstances(states=_OPEN, has_incident=True),
    "COMPLETED": WantedInstances(states=frozenset({InstanceState.COMPLETED})),
    "TERMINATED": WantedInstances(
        states=frozenset({InstanceState.TERMINATING, InstanceState.TERMINATED})
    ),
}
INSTANCE_STATES = tuple(state for state in ASKED_STATES if state is not None)

# What the engine adds to the words of a worker whose job has no retries left.
_OWN_WORDS = re.compile(
    r" ?\(job \d+: \d+ attempts?, retries exhausted\)$"
    r"|^job \d+ failed without a message \(\d+ attempts?, retries exhausted\)$"
)

# Codes of contracts/priostack.md; what it has no word for keeps Zeebe's.
ERROR_CODES: Mapping[str, str] = {
    ErrorType.JOB_NO_RETRIES: "JOB_FAILED",
    ErrorType.UNHANDLED_ERROR_EVENT: "JOB_FAILED",
    ErrorType.EXTRACT_VALUE_ERROR: "EXPRESSION_FAILED",
    ErrorType.IO_MAPPING_ERROR: "EXPRESSION_FAILED",
    ErrorType.CONDITION_ERROR: "NO_MATCHING_FLOW",
    "DECISION_EVALUATION_ERROR": "DECISION_FAILED",
    "CALLED_DECISION_ERROR": "DECISION_FAILED",
}


def instance_state(root: Root) -> str:
    """Return the one word for where an instance is: an open incident outweighs being active."""
    if root.state is InstanceState.ACTIVE:
        return INCIDENT if root.incident_count else "ACTIVE"
    return _ENDED[root.state]


def variables_of(instance: Instance) -> JsonObject:
    """Return the variables at the top of an instance."""
    record = instance.records.get(RecordKey(Variables, instance.key))
    return record.values if isinstance(record, Variables) else {}


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with the root of its instance, at a moment.

    Shapes: `names` are those of the variables to show, None for all; a `deadline` is shown only
        by what hands jobs out.
    """

    job: Job
    root: Root
    at: datetime
    is_handed_out: bool = False
    names: frozenset[str] | None = None

    @property
    def state(self) -> str:
        """Whether a worker has it."""
        return "active" if lists.is_held(self.job, self.at) else "pending"

    @property
    def deadline(self) -> int:
        """When a worker should be done, in Unix milliseconds; 0 in lists."""
        return to_ms(self.at + DEADLINE) if self.is_handed_out else 0

    @property
    def worker(self) -> str | None:
        """Who has it."""
        return self.job.owner if lists.is_held(self.job, self.at) else None

    @property
    def variables(self) -> JsonObject:
        """What the worker asked to see of its inputs."""
        inputs = self.job.inputs
        if self.names is None:
            return inputs
        return {name: value for name, value in inputs.items() if name in self.names}


def error_code(incident: Incident) -> str:
    """Return why an incident was opened."""
    return ERROR_CODES.get(incident.error_type, incident.error_type)


def error_message(incident: Incident) -> str:
    """Return what an incident says: of a failed job the words of its worker alone."""
    if incident.error_type != ErrorType.JOB_NO_RETRIES:
        return incident.message
    return _OWN_WORDS.sub("", incident.message)


def marked_at(incident: Incident) -> datetime | None:
    """Return when an incident was first called resolved: by a mark, or by what resolved it."""
    moments = [at for at in (incident.acknowledged_at, incident.resolved_at) if at is not None]
    return min(moments, default=None)
