"""Names that mean something else for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def replaced(where: object, **names: object) -> Iterator[None]:
    """Let names of a module or class mean something else while this lasts."""
    before = {name: getattr(where, name) for name in names}
    for name, value in names.items():
        setattr(where, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(where, name, value)
