"""What is published of a route: its name, what it takes and how it may answer, as data beside it.

The document of a dialect, such as `/v1/openapi.json`, is made of these and of the shapes they name,
and a house test compares them with what the routes do. What may go wrong anywhere is not repeated:
401, 403, 500 and 503. Who may call it says `authorizer.py`, by its id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

from chalicelib.api.schema import Object, Type

View = TypeVar("View", bound=Callable[..., Any])
ANYWHERE = (401, 403, 500, 503)  # no key; another role's; a fault; not possible now


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, under the id that it is published by; its route wears it as a decorator.

    Shapes: `answers` maps each status of success to the shape of its body, None for no body;
        `refusals` are the other statuses it may have, all with the dialect's error. `upload` names
        the media types of a body that is no JSON, `raw` that of an answer which is none, given
        there as None. Parameters are as published: `headers` by their
        names, `path` only where one is otherwise than its name says (a key, or a text), `needed`
        those of the query that may not be left out.
    """

    id: str
    _: KW_ONLY
    answers: Mapping[int, Type | None]
    refusals: tuple[int, ...] = ()
    query: Mapping[str, Type] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    headers: Mapping[str, Type] = field(default_factory=dict)
    path: Mapping[str, Type] = field(default_factory=dict)
    body: Object | None = None
    is_body_optional: bool = False
    upload: tuple[str, ...] = ()
    raw: str = ""

    def __call__(self, view: View) -> View:
        """Stay with the function of a route."""
        view.operation = self  # type: ignore[attr-defined]
        return view

    @property
    def statuses(self) -> frozenset[int]:
        """All that it may answer."""
        return frozenset((*self.answers, *self.refusals, *ANYWHERE))


@dataclass(frozen=True, slots=True)
class About:
    """What the document of a dialect is about: the paths under a prefix, the shape of all errors.

    Shapes: `more_of_error` are members that a refusal may have beside those of `error`; `spell`
        writes the name of a variable in a path as clients see it; `anywhere` are the statuses that
        every operation may answer with.
    """

    title: str
    version: str
    description: str
    prefix: str
    error: Object
    more_of_error: Mapping[str, Type] = field(default_factory=dict)
    spell: Callable[[str], str] = str
    anywhere: tuple[int, ...] = ANYWHERE


def camel_case(name: str) -> str:
    """Return a name as most dialects publish it: `job_key` is `jobKey`."""
    first, *more = name.split("_")
    return first + "".join(word.capitalize() for word in more)


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return what is published of a route, None if nothing is."""
    found = getattr(view, "operation", None)
    return found if isinstance(found, Operation) else None
