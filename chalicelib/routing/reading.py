"""Declarations out of JSON: what is wrong is told with its place, as `steps.0.filter.condition`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from chalicelib import feel
from chalicelib.feel.limits import TEXT_MAX
from chalicelib.json_text import JsonObject, JsonValue, is_integer
from chalicelib.routing import definition as d
from chalicelib.routing.expressions import without_sign

_REFERENCES = ("ssm:", "secretsmanager:")
_MS = timedelta(milliseconds=1)
_MAX = 2**31 - 1


class BadDeclaration(ValueError):
    """A declaration that cannot be; `place` says where in it, "" for all of it."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an object, each asked for by its name."""

    values: Mapping[str, Any]
    place: str = ""

    def at(self, name: str) -> str:
        """Return where a member is."""
        return f"{self.place}.{name}" if self.place else name

    def only(self, *names: str) -> None:
        """Raises: BadDeclaration for a member of another name."""
        for name in self.values:
            if name not in names:
                listed = ", ".join(names)
                raise BadDeclaration(self.at(name[:50]), f"expected one of {listed}")

    def text(self, name: str, length_max: int = TEXT_MAX) -> str | None:
        """Return a text, None if it is not there."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not 0 < len(value) <= length_max:
            raise BadDeclaration(
                self.at(name),
                f"expected a text of 1 to {length_max} characters, found {_of(value)}",
            )
        return value

    def named(self, name: str) -> str:
        """Return the name of something declared."""
        return checked_name(self.needed(name, self.text(name)), self.at(name))

    def expression(self, name: str) -> str | None:
        """Return FEEL that parses."""
        text = self.text(name)
        return None if text is None else _parsed(text, self.at(name))

    def whole(self, name: str, least: int, most: int) -> int | None:
        """Return an integer, None if it is not there."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, Decimal) or not is_integer(value) or not least <= value <= most:
            raise BadDeclaration(
                self.at(name), f"expected an integer of {least} to {most}, found {_of(value)}"
            )
        return int(value)

    def span(
        self, name: str, least: timedelta, most: timedelta = d.TIME_TO_LIVE_MAX
    ) -> timedelta | None:
        """Return milliseconds, None if they are not there."""
        number = self.whole(name, least // _MS, most // _MS)
        return None if number is None else number * _MS

    def needed(self, name: str, value: str | None) -> str:
        """Return a value that may not be left out."""
        if value is None:
            raise BadDeclaration(self.at(name), "is missing")
        return value

    def inner(self, name: str) -> Members:
        """Return the members of an object within."""
        return _members(self.values.get(name), self.at(name))


def channel(name: str, declared: JsonObject) -> d.Channel:
    """Read a channel. Raises: BadDeclaration."""
    members = Members(declared)
    members.only("timeToLive")
    lives = members.span("timeToLive", d.TIME_TO_LIVE_MIN)
    return d.Channel(checked_name(name, "name"), lives or d.TIME_TO_LIVE)


def route(name: str, declared: JsonObject) -> d.Route:
    """Read a route. Raises: BadDeclaration."""
    members = Members(declared)
    members.only("from", "steps")
    listed = declared.get("steps")
    if not isinstance(listed, list) or not 0 < len(listed) <= d.STEPS_MAX:
        raise BadDeclaration("steps", f"expected a list of 1 to {d.STEPS_MAX} steps")
    steps = [_step(value, f"steps.{number}") for number, value in enumerate(listed)]
    passing: list[d.Step] = []
    for number, step in enumerate(steps[:-1]):
        if not isinstance(step, d.Step):
            raise BadDeclaration(f"steps.{number}", "nothing can follow this step")
        passing.append(step)
    end = steps[-1]
    if isinstance(end, d.Step):
        raise BadDeclaration(
            f"steps.{len(steps) - 1}",
            "expected the last step to be a router, splitter, channel, aggregator or endpoint",
        )
    return d.Route(checked_name(name, "name"), members.named("from"), tuple(passing), end)


def aggregator(name: str, declared: JsonObject) -> d.Aggregator:
    """Read an aggregator. Raises: BadDeclaration."""
    members = Members(declared)
    members.only("to", "count", "condition", "timeout", "body")
    read = d.Aggregator(
        checked_name(name, "name"),
        members.named("to"),
        members.whole("count", 1, d.MEMBERS_MAX),
        members.expression("condition"),
        members.span("timeout", d.TIMEOUT_MIN),
        members.expression("body"),
    )
    if read.count is None and read.condition is None and read.timeout is None:
        raise BadDeclaration("", "expected a count, a condition or a timeout")
    return read


def checked_name(name: str, place: str) -> str:
    """Return a name that something may be declared by. Raises: BadDeclaration."""
    if not d.NAME.fullmatch(name):
        raise BadDeclaration(
            place,
            "expected a name of 1 to 100 letters, digits, dots, dashes and underscores, "
            f"found {name[:50]!r}",
        )
    return name


# --- steps -------------------------------------------------------------------------------------


def _step(value: JsonValue, place: str) -> d.Step | d.End:
    members = _members(value, place)
    if len(members.values) != 1 or next(iter(members.values)) not in _STEPS:
        raise BadDeclaration(place, f"expected exactly one of {', '.join(_STEPS)}")
    (kind,) = members.values
    return _STEPS[kind](members, kind)


def _filter(members: Members, kind: str) -> d.Step:
    inner = members.inner(kind)
    inner.only("condition", "repeatsOf")
    condition, repeats_of = inner.expression("condition"), inner.expression("repeatsOf")
    if condition is not None and repeats_of is None:
        return d.Filter(condition)
    if repeats_of is not None and condition is None:
        return d.RepeatFilter(repeats_of)
    raise BadDeclaration(inner.place, "expected either condition or repeatsOf")


def _translator(members: Members, kind: str) -> d.Step:
    inner = members.inner(kind)
    inner.only("body", "headers", "correlationKey")
    return d.Translator(
        inner.expression("body"), inner.expression("headers"), inner.expression("correlationKey")
    )


def _router(members: Members, kind: str) -> d.End:
    inner = members.inner(kind)
    inner.only("branches", "default")
    listed = inner.values.get("branches")
    if not isinstance(listed, list) or not 0 < len(listed) <= d.BRANCHES_MAX:
        raise BadDeclaration(
            inner.at("branches"), f"expected a list of 1 to {d.BRANCHES_MAX} branches"
        )
    branches = []
    for number, value in enumerate(listed):
        branch = _members(value, f"{inner.at('branches')}.{number}")
        branch.only("when", "to")
        when = branch.needed("when", branch.expression("when"))
        branches.append(d.Branch(when, branch.named("to")))
    default = None if inner.values.get("default") is None else inner.named("default")
    return d.Router(tuple(branches), default)


def _splitter(members: Members, kind: str) -> d.End:
    inner = members.inner(kind)
    inner.only("items", "to")
    return d.Splitter(inner.needed("items", inner.expression("items")), inner.named("to"))


def _forward(members: Members, kind: str) -> d.End:
    return d.Forward(members.named(kind))


def _gather(members: Members, kind: str) -> d.End:
    return d.Gather(members.named(kind))


def _endpoint(members: Members, kind: str) -> d.End:
    inner = members.inner(kind)
    inner.only(*_ENDPOINTS)
    if len(inner.values) != 1:
        raise BadDeclaration(inner.place, f"expected exactly one of {', '.join(_ENDPOINTS)}")
    (what,) = inner.values
    return _ENDPOINTS[what](inner.inner(what))


def _start(inner: Members) -> d.End:
    inner.only("bpmnProcessId", "version", "variables")
    return d.StartInstance(
        inner.needed("bpmnProcessId", inner.text("bpmnProcessId")),
        inner.whole("version", 1, _MAX),
        inner.expression("variables"),
    )


def _correlate(inner: Members) -> d.End:
    inner.only("name", "correlationKey", "variables", "timeToLive")
    return d.CorrelateMessage(
        inner.needed("name", inner.text("name")),
        inner.expression("correlationKey"),
        inner.expression("variables"),
        inner.span("timeToLive", timedelta(0)),
    )


def _call(inner: Members) -> d.End:
    inner.only("url", "method", "headers", "body", "auth", "timeout")
    url = inner.needed("url", inner.text("url"))
    if url.startswith("="):
        _parsed(url, inner.at("url"))
    method = inner.text("method") or "POST"
    if method not in d.METHODS:
        raise BadDeclaration(inner.at("method"), f"expected one of {', '.join(d.METHODS)}")
    headers = [] if inner.values.get("headers") is None else inner.inner("headers").values.items()
    for name, value in headers:
        if not isinstance(value, str):
            raise BadDeclaration(f"{inner.at('headers')}.{name[:50]}", "expected a text")
    return d.CallUrl(
        url,
        method,
        tuple(headers),
        inner.expression("body"),
        None if inner.values.get("auth") is None else _auth(inner.inner("auth")),
        inner.span("timeout", 1 * _MS, d.CALL_TIMEOUT) or d.CALL_TIMEOUT,
    )


def _auth(inner: Members) -> d.Auth:
    inner.only("type", "username", "header", "secret")
    type_ = inner.needed("type", inner.text("type"))
    if type_ not in d.AUTH_TYPES:
        raise BadDeclaration(inner.at("type"), f"expected one of {', '.join(d.AUTH_TYPES)}")
    secret = inner.needed("secret", inner.text("secret"))
    if not secret.startswith(_REFERENCES):
        raise BadDeclaration(
            inner.at("secret"), "expected a reference: ssm:NAME or secretsmanager:NAME"
        )
    header = inner.text("header") or ""
    if type_ == "header" and not header:
        raise BadDeclaration(inner.at("header"), "is missing")
    return d.Auth(type_, inner.text("username") or "", header, secret)


_STEPS = {
    "filter": _filter,
    "translator": _translator,
    "router": _router,
    "splitter": _splitter,
    "channel": _forward,
    "aggregator": _gather,
    "endpoint": _endpoint,
}
_ENDPOINTS = {"start": _start, "correlate": _correlate, "call": _call}


# --- values ------------------------------------------------------------------------------------


def _members(value: JsonValue, place: str) -> Members:
    if not isinstance(value, dict):
        raise BadDeclaration(place, f"expected an object, found {_of(value)}")
    return Members(value, place)


def _parsed(text: str, place: str) -> str:
    try:
        feel.parse(without_sign(text))
    except feel.FeelSyntaxError as error:
        raise BadDeclaration(place, f"expected a FEEL expression: {error}") from error
    return text


def _of(value: JsonValue) -> str:
    return "nothing" if value is None else repr(value)[:50]
