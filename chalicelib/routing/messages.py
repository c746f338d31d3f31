"""Messages, what a channel knows of each that was put into it, and the groups of aggregators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from chalicelib.json_text import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Message:
    """What is routed."""

    id: str
    body: JsonValue = None
    correlation_key: str | None = None
    headers: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A message in a channel."""

    channel: str
    id: str


class State(StrEnum):
    """What has become of a message in a channel; all but the first are final."""

    WAITING = "waiting"  # to be handled, at once or at its due time
    RESTING = "resting"  # no route leads out of the channel
    FORWARDED = "forwarded"  # it is in other channels now
    DROPPED = "dropped"
    HELD = "held"  # a group of an aggregator has it
    DELIVERED = "delivered"  # an endpoint took it
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message in a channel, and what has become of it.

    Shapes: `nonce` tells it from one that had its id before; `revision` rises with each change.
        `claimed` names the repeat filters that let it pass. `by` and `why` say what decided, and
        `to` where it went, or what the endpoint did is told by `instance_key` or `status_code`.
        `held` is the message as an aggregator has it, in the group of `group_id`.
    """

    channel: str
    message: Message
    nonce: str
    revision: int = 0
    state: State = State.WAITING
    entered_at: datetime
    due: datetime
    expires_at: datetime
    attempt: int = 0
    hops: int = 0
    claimed: tuple[str, ...] = ()
    changed_at: datetime | None = None
    by: str | None = None
    why: str | None = None
    to: tuple[Place, ...] = ()
    aggregator: str | None = None
    group_id: str | None = None
    held: Message | None = None
    instance_key: int | None = None
    status_code: int | None = None

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.channel, self.message.id)

    @property
    def stamp(self) -> str:
        """What names this very state of it: nobody else ever writes the same."""
        return f"{self.nonce}#{self.revision}"

    def changed(self, now: datetime, **fields: object) -> Entry:
        """Return the entry after one change."""
        changes: dict[str, object] = {"revision": self.revision + 1, "changed_at": now, **fields}
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Messages of one correlation key that an aggregator holds.

    Shapes: `size` is the bytes of the members' bodies; at `due` it is released, or discarded if
        its aggregator has no timeout. Once closed, `why` says what closed it and `to` where
        its message went, None if it was discarded.
    """

    aggregator: str
    correlation_key: str
    id: str
    members: tuple[Place, ...]
    size: int
    opened_at: datetime
    due: datetime
    hops: int = 0
    closed_at: datetime | None = None
    why: str | None = None
    to: Place | None = None

    @property
    def stamp(self) -> str:
        """What names this very state of it."""
        return f"{self.id}#{len(self.members)}"
