"""What happens to a message next: one pure function over its route.

A decision reads the message as it was put and goes through all steps again each time, so a route
that was changed meanwhile is followed as it is now. Only what a repeat filter let pass is
remembered, because it must not be asked twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from chalicelib import feel, json_text
from chalicelib.feel import Moment
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.routing import definition as d
from chalicelib.routing.expressions import evaluate, holds, seen
from chalicelib.routing.messages import Entry, Message

ATTEMPTS_MAX = 10  # of an endpoint that calls a URL: the last one some 8 minutes after the first
BACKOFF = timedelta(seconds=1)  # doubling
BACKOFF_MAX = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Rest:
    """No route leads out of the channel."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A step lets it pass no further."""

    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Fail:
    """The route or what it is about is wrong; an operator has to look."""

    by: str
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A repeat filter lets it pass if it is the first to give this text."""

    by: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Send:
    """It goes on, as one message or as several."""

    by: str
    to: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """An aggregator gets it, under a key."""

    by: str
    aggregator: str
    correlation_key: str
    message: Message


@dataclass(frozen=True, slots=True)
class Start:
    """A process instance is to be started."""

    by: str
    bpmn_process_id: str
    version: int | None
    variables: JsonObject


@dataclass(frozen=True, slots=True)
class Correlate:
    """A BPMN message is to be correlated."""

    by: str
    name: str
    correlation_key: str | None
    variables: JsonObject
    time_to_live: timedelta | None


@dataclass(frozen=True, slots=True)
class Call:
    """A URL is to be called."""

    by: str
    url: str
    body: str | None
    endpoint: d.CallUrl


Deliver = Start | Correlate | Call
Decision = Rest | Drop | Fail | Claim | Send | Hold | Deliver


class _Wrong(Exception):
    """What an expression gave is not what its place takes."""


def decide(route: d.Route | None, entry: Entry, moment: Moment) -> Decision:
    """Say what happens to a message that waits in the channel of a route."""
    if route is None:
        return Rest()
    message, number = entry.message, 0
    try:
        for number, step in enumerate(route.steps):
            match step:
                case d.Filter(condition):
                    if not holds(condition, seen(message, entry.channel), moment):
                        return Drop(route.place(number), "the condition of the filter is not met")
                case d.RepeatFilter(repeats_of):
                    claim = _claim(route, number, repeats_of, message, entry, moment)
                    if claim.name not in entry.claimed:
                        return claim
                case d.Translator():
                    message = _translated(step, message, entry.channel, moment)
        number = len(route.steps)
        return _ended(route, message, entry, moment)
    except (feel.FeelError, _Wrong) as error:
        return Fail(route.place(number), str(error))


def retried_at(attempt: int, now: datetime) -> datetime | None:
    """Return when the attempt after this one is due, None if it was the last."""
    if attempt >= ATTEMPTS_MAX:
        return None
    backoff: timedelta = min(BACKOFF_MAX, BACKOFF * 2 ** (attempt - 1))
    return now + backoff


def size_of(message: Message) -> int:
    """Return the bytes of what a message carries."""
    carried = [message.headers, message.body, message.correlation_key]
    return len(json_text.dumps(carried).encode())


def _claim(
    route: d.Route, number: int, repeats_of: str, message: Message, entry: Entry, moment: Moment
) -> Claim:
    text = _text(evaluate(repeats_of, seen(message, entry.channel), moment), "repeatsOf")
    if text is None:
        raise _Wrong("expected repeatsOf to give a text or a number, found null")
    return Claim(route.place(number), f"{route.name} {repeats_of}", text)


def _translated(step: d.Translator, message: Message, channel: str, moment: Moment) -> Message:
    around = seen(message, channel)
    body, headers, key = message.body, message.headers, message.correlation_key
    if step.body is not None:
        body = evaluate(step.body, around, moment)
    if step.headers is not None:
        headers = _object(evaluate(step.headers, around, moment), "headers")
    if step.correlation_key is not None:
        key = _text(evaluate(step.correlation_key, around, moment), "correlationKey")
    made = replace(message, body=body, headers=headers, correlation_key=key)
    _check_size(made)
    return made


def _ended(route: d.Route, message: Message, entry: Entry, moment: Moment) -> Decision:
    by, end = route.place(len(route.steps)), route.end
    match end:
        case d.Router() | d.Forward() | d.Splitter():
            return _sent_on(by, end, message, entry, moment)
        case d.Gather(aggregator):
            if message.correlation_key is None:
                raise _Wrong("expected a correlation key to aggregate by, found none")
            return Hold(by, aggregator, message.correlation_key, message)
        case _:
            return _delivered(by, end, message, seen(message, entry.channel), moment)


def _sent_on(
    by: str, end: d.Router | d.Forward | d.Splitter, message: Message, entry: Entry, moment: Moment
) -> Decision:
    around = seen(message, entry.channel)
    match end:
        case d.Router(branches, default):
            found = (branch.to for branch in branches if holds(branch.when, around, moment))
            to = next(found, default)
            if to is None:
                return Drop(by, "no branch of the router matches, and it has no default")
            return _sent(by, to, (message,), entry)
        case d.Forward(to):
            return _sent(by, to, (message,), entry)
        case d.Splitter(items, to):
            parts = _parts(evaluate(items, around, moment), message)
            if not parts:
                return Drop(by, "the splitter found nothing in it")
            return _sent(by, to, parts, entry)


def _delivered(
    by: str, end: d.Endpoint, message: Message, around: JsonObject, moment: Moment
) -> Decision:
    match end:
        case d.StartInstance(bpmn_process_id, version, variables):
            given = _variables(variables, message, around, moment)
            return Start(by, bpmn_process_id, version, given)
        case d.CorrelateMessage(name, key, variables, time_to_live):
            given = _variables(variables, message, around, moment)
            of = message.correlation_key
            if key is not None:
                of = _text(evaluate(key, around, moment), "correlationKey")
            return Correlate(by, name, of, given, time_to_live)
        case d.CallUrl():
            return _called(by, end, message, around, moment)


def _sent(by: str, to: str, messages: tuple[Message, ...], entry: Entry) -> Decision:
    if entry.hops >= d.HOPS_MAX:
        return Fail(by, f"expected at most {d.HOPS_MAX} channels on one way, found more")
    return Send(by, to, messages)


def _parts(items: JsonValue, message: Message) -> tuple[Message, ...]:
    if not isinstance(items, list):
        raise _Wrong(f"expected items to give a list, found {_shown(items)}")
    if len(items) > d.PARTS_MAX:
        raise _Wrong(f"expected at most {d.PARTS_MAX} items, found {len(items)}")
    parts = tuple(
        replace(message, id=f"{message.id}.{number}", body=item)
        for number, item in enumerate(items, 1)
    )
    size = sum(_check_size(part) for part in parts)
    if size > d.PARTS_BYTES_MAX:
        raise _Wrong(
            f"expected items of at most {d.PARTS_BYTES_MAX} bytes, with the headers that each has, "
            f"found {size}"
        )
    return parts


def _called(
    by: str, call: d.CallUrl, message: Message, around: JsonObject, moment: Moment
) -> Decision:
    url = call.url
    if url.startswith("="):
        found = evaluate(url, around, moment)
        if not isinstance(found, str):
            raise _Wrong(f"expected url to give a text, found {_shown(found)}")
        url = found
    body = message.body if call.body is None else evaluate(call.body, around, moment)
    return Call(by, url, None if call.method == "GET" else json_text.dumps(body), call)


def _variables(
    text: str | None, message: Message, around: JsonObject, moment: Moment
) -> JsonObject:
    if text is not None:
        return _object(evaluate(text, around, moment), "variables")
    return message.body if isinstance(message.body, dict) else {"body": message.body}


def _object(value: JsonValue, name: str) -> JsonObject:
    if not isinstance(value, dict):
        raise _Wrong(f"expected {name} to give an object, found {_shown(value)}")
    return value


def _text(value: JsonValue, name: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, Decimal):
        value = json_text.dumps(value)
    if not isinstance(value, str) or len(value) > d.KEY_MAX:
        raise _Wrong(
            f"expected {name} to give a text of at most {d.KEY_MAX} characters or a number, "
            f"found {_shown(value)}"
        )
    return value


def _check_size(message: Message) -> int:
    """Return a message's size in bytes. Raises: _Wrong if it is too large."""
    size = size_of(message)
    if size > d.MESSAGE_BYTES_MAX:
        raise _Wrong(f"expected a message of at most {d.MESSAGE_BYTES_MAX} bytes, found {size}")
    return size


def _shown(value: JsonValue) -> str:
    text = json_text.dumps(value)
    return text if len(text) <= 50 else f"{text[:47]}..."
