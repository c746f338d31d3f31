"""Ports that note each call, and may die or do something else around one: crash windows by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.ports import Ports


class Crash(BaseException):
    """The process died; nothing catches this but a test."""


class Fault(Exception):
    """A call failed, for a reason of AWS's."""


@dataclass(slots=True)
class Watch:
    """What was called, such as "queues.send", and what is to happen around which calls.

    Shapes: `before` and `after` map a call's name and number, from 1, to what is done then.
    """

    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    before: dict[tuple[str, int], Callable[[], None]] = field(default_factory=dict)
    after: dict[tuple[str, int], Callable[[], None]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def call(self, name: str, inner: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        self.counts[name] += 1
        number = self.counts[name]
        self.calls.append((name, args))
        self.before.get((name, number), _nothing)()
        answer = inner(*args)
        self.after.get((name, number), _nothing)()
        return answer

    def named(self, name: str) -> list[tuple[Any, ...]]:
        """Return the arguments of every call of that name."""
        return [args for called, args in self.calls if called == name]

    def reset(self) -> None:
        """Forget what was called, and what is still to happen."""
        self.calls.clear()
        self.counts.clear()
        self.before.clear()
        self.after.clear()


class Watched:
    """One port under a watch."""

    def __init__(self, name: str, inner: Any, watch: Watch) -> None:
        self._name, self._inner, self._watch = name, inner, watch

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._inner, name)

        def call(*args: Any) -> Any:
            return self._watch.call(f"{self._name}.{name}", inner, args)

        return call


def watched(ports: Ports) -> tuple[Ports, Watch]:
    """Put the table, the queues and the schedules of a bundle under one watch."""
    watch = Watch()
    made: dict[str, Any] = {
        name: Watched(name, getattr(ports, name), watch)
        for name in ("table", "queues", "schedules")
    }
    return replace(ports, **made), watch


def die() -> None:
    """Let the process die here."""
    raise Crash


def fault() -> None:
    """Let the call fail here."""
    raise Fault


def _nothing() -> None:
    """Let all go on."""
