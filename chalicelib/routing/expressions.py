"""FEEL as routes see it: over one message, or over those of a group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from chalicelib import feel
from chalicelib.feel import Moment
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.routing.messages import Message


def evaluate(text: str, variables: Mapping[str, Any], moment: Moment) -> JsonValue:
    """Return the value of an expression, with or without a leading `=`. Raises: FeelError."""
    now, random_bits, deadline = moment
    value = feel.parse(without_sign(text)).evaluate(
        variables, now=now, random_bits=random_bits, deadline=deadline
    )
    taken: JsonValue = feel.to_json(value)
    deadline.check()
    return taken


def holds(text: str, variables: Mapping[str, Any], moment: Moment) -> bool:
    """Say whether a condition is true; null and what is no boolean are not. Raises: FeelError."""
    return evaluate(text, variables, moment) is True


def seen(message: Message, channel: str) -> JsonObject:
    """Return what expressions see of a message."""
    return {
        "id": message.id,
        "correlationKey": message.correlation_key,
        "headers": message.headers,
        "body": message.body,
        "channel": channel,
    }


def seen_together(correlation_key: str, messages: Iterable[tuple[str, Message]]) -> JsonObject:
    """Return what expressions see of a group, whose messages are given with their channels."""
    listed = [seen(message, channel) for channel, message in messages]
    return {"correlationKey": correlation_key, "messages": listed}


def without_sign(text: str) -> str:
    """Return an expression without a leading `=`."""
    stripped = text.lstrip()
    return stripped[1:] if stripped.startswith("=") else text
