"""How a model is refused: by its element, id, name and line, then what was expected and found.

Whoever checks one thing raises at once. Whoever checks several that do not rest on each other
gathers them in `Faults`, so that a modeller sees all that is wrong, and mends it, in one go. What
rests on something that was refused already raises `follows()`, which names nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from chalicelib.errors import Reason, Rejected
from chalicelib.xml_tree import Node, shown

FAULTS_MAX = 100  # that one message names: some 20 kB; headrace lint prints all

T = TypeVar("T")
S = TypeVar("S")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a model, or cannot be run.

    Shapes: `line` is where the element stands, 0 if nobody knows; `text` is the whole sentence,
        which names it too.
    """

    line: int
    text: str


class Refused(Rejected):
    """The model is wrong, or cannot be run; nothing was deployed.

    Shapes: `faults` are all that were found, in the order of the file.
    """

    def __init__(
        self, faults: Iterable[Fault], details: Mapping[str, object] | None = None
    ) -> None:
        self.faults = tuple(sorted(dict.fromkeys(faults), key=lambda fault: fault.line))
        super().__init__(Reason.INVALID_ARGUMENT, _message(self.faults), details)


class Faults:
    """What was found so far."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def tried(
        self, otherwise: S, function: Callable[P, T], *args: P.args, **named: P.kwargs
    ) -> S | T:
        """Return what a function makes; if it refuses, note its faults and go on `otherwise`."""
        try:
            return function(*args, **named)
        except Refused as refused:
            self._found += refused.faults
            return otherwise

    def check(self) -> None:
        """Raises: Refused with all that was noted, if anything was."""
        if self._found:
            raise Refused(self._found)


def each(function: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """Apply a function to each item. Raises: Refused with the faults of all that it refuses."""
    faults = Faults()
    made: list[T] = []
    for item in items:
        made += faults.tried([], lambda one: [function(one)], item)
    faults.check()
    return made


def refusal(node: Node, problem: str) -> Refused:
    """Say what is wrong with an element of the model."""
    return Refused([Fault(node.line, f"{described(node)}: {problem}")])


def refuse(node: Node, problem: str) -> None:
    """Raises: Refused, for what is wrong with an element of the model."""
    raise refusal(node, problem)


def unsupported(node: Node, what: str) -> Refused:
    """Say that an element of the model cannot be run, though it is no mistake."""
    return Refused(
        [Fault(node.line, f"unsupported element type {what}, found at {described(node)}")]
    )


def follows() -> Refused:
    """Give up what rests on something that is refused elsewhere."""
    return Refused(())


def described(node: Node) -> str:
    """Return an element as messages name it: `serviceTask "charge" named "Charge card" (line 12)`;
    one that has no name goes without."""
    id_, name = node.get("id"), node.get("name")
    told = f"{node.name} {shown(id_)}" if id_ else f"{node.name} without an id"
    return (
        f"{told} named {shown(name)} (line {node.line})" if name else f"{told} (line {node.line})"
    )


def _message(faults: Sequence[Fault]) -> str:
    """Say what is wrong: one fault in a line of its own, or how many and the first of them."""
    if len(faults) == 1:
        return faults[0].text
    lines = [fault.text for fault in faults[:FAULTS_MAX]]
    if len(faults) > FAULTS_MAX:
        lines.append(f"… and {len(faults) - FAULTS_MAX} more, which headrace lint prints")
    return "\n".join([f"{len(faults)} faults:", *lines])
