"""What is declared: channels, the routes that lead out of them, and aggregators.

A route takes each message of its channel through steps that let it pass, change it or drop it, to
one end: another channel by a router, a splitter or directly, an aggregator, or an endpoint.
Expressions are FEEL over `id`, `correlationKey`, `headers`, `body` and `channel`.

Source: contracts/priostack.md, "Layer 2"; Hohpe and Woolf, "Enterprise Integration Patterns".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
ID_MAX = 200  # characters of a message's id, as it is put
KEY_MAX = 1_000  # characters of a correlation key, or of what repeats are told by
MESSAGE_BYTES_MAX = 150_000  # headers and body; an item holds them twice, as put and as held
RELEASED_BYTES_MAX = MESSAGE_BYTES_MAX + 2_000  # of a whole group, with headers of its own
TIME_TO_LIVE_MIN = timedelta(minutes=1)
TIME_TO_LIVE_MAX = timedelta(days=31)
TIME_TO_LIVE = timedelta(days=7)
STEPS_MAX = 20  # of a route
BRANCHES_MAX = 50  # of a router
PARTS_MAX = 80  # of a splitter: all are written by one transaction (of 90 actions)
PARTS_BYTES_MAX = 3_000_000  # of all of them: of the 4 MB of a transaction, with keys and the rest
HOPS_MAX = 16  # channels that a message, or what is made of it, may go through
MEMBERS_MAX = 1_000  # of an aggregator's group
TIMEOUT_MIN = timedelta(seconds=1)  # of an aggregator
CALL_TIMEOUT = timedelta(seconds=10)  # of the function's 30 s; a commit follows
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
AUTH_TYPES = ("basic", "bearer", "header")


@dataclass(frozen=True, slots=True)
class Channel:
    """Where messages are put; each id is handled once within the time to live."""

    name: str
    time_to_live: timedelta = TIME_TO_LIVE


# --- steps -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Drops what does not meet a condition."""

    condition: str


@dataclass(frozen=True, slots=True)
class RepeatFilter:
    """Drops what gives the same text as a message before it, within the channel's time to live."""

    repeats_of: str


@dataclass(frozen=True, slots=True)
class Translator:
    """Changes the message; what has no expression stays."""

    body: str | None = None
    headers: str | None = None
    correlation_key: str | None = None


Step = Filter | RepeatFilter | Translator

# --- ends --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Branch:
    """One way of a router: taken if its condition is the first to be true."""

    when: str
    to: str


@dataclass(frozen=True, slots=True)
class Router:
    """Sends on by content; what meets no condition takes the default, or is dropped."""

    branches: tuple[Branch, ...]
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Splitter:
    """Makes a message of each item of a list; the n-th has the id `<id>.<n>`, from 1."""

    items: str
    to: str


@dataclass(frozen=True, slots=True)
class Forward:
    """Sends on to another channel."""

    to: str


@dataclass(frozen=True, slots=True)
class Gather:
    """Hands over to an aggregator."""

    aggregator: str


@dataclass(frozen=True, slots=True)
class StartInstance:
    """Starts a process instance; without a version, of the newest one.

    Shapes: `variables` is FEEL; without it the body is them, if it is an object, else `body`.
    """

    bpmn_process_id: str
    version: int | None = None
    variables: str | None = None


@dataclass(frozen=True, slots=True)
class CorrelateMessage:
    """Correlates a BPMN message, which waits for who subscribes later until a time to live.

    Shapes: `correlation_key` and `variables` are FEEL; without them the message's own, and the
        variables as of a start. Without a `time_to_live` it waits as long as the channel keeps
        the message.
    """

    name: str
    correlation_key: str | None = None
    variables: str | None = None
    time_to_live: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Auth:
    """How a call names itself; secrets are references, so that nothing secret is declared."""

    type: str
    username: str = ""
    header: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class CallUrl:
    """Calls a URL; one that begins with `=` is FEEL, and so is the body, else the message's."""

    url: str
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    auth: Auth | None = None
    timeout: timedelta = CALL_TIMEOUT


Endpoint = StartInstance | CorrelateMessage | CallUrl
End = Router | Splitter | Forward | Gather | Endpoint


@dataclass(frozen=True, slots=True)
class Route:
    """The one way out of a channel."""

    name: str
    source: str
    steps: tuple[Step, ...]
    end: End

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels it leads to."""
        match self.end:
            case Router(branches, default):
                named = [branch.to for branch in branches]
                return (*named, *([default] if default else []))
            case Splitter(to=to) | Forward(to):
                return (to,)
        return ()

    def place(self, number: int) -> str:
        """Return what a step, or the end behind them, is called: `route orders, step 2`."""
        return f"route {self.name}, step {number + 1}"


@dataclass(frozen=True, slots=True)
class Aggregator:
    """Collects messages by their correlation key until a count, a condition or a timeout.

    Shapes: `condition` and `body` are FEEL over `correlationKey` and `messages`, a list of what a
        route's expressions see each; without a `body` what goes out is the list of the bodies.
    """

    name: str
    to: str
    count: int | None = None
    condition: str | None = None
    timeout: timedelta | None = None
    body: str | None = None


Declared = Channel | Route | Aggregator
