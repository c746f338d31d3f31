"""The scopes of an expression while it is compiled, and the slots of what it binds itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chalicelib.feel.profile import Profile
from chalicelib.feel.tree import Node

if TYPE_CHECKING:
    from chalicelib.feel.evaluation import Closure

# Each takes the class of the tree that the table in `compiler` has it under.
Builder = Callable[[Any, "Scope"], "Closure"]

ITEM = "item"


class Unit:
    """What one whole expression gathers: its slots, its free names, whether it computes."""

    __slots__ = ("builders", "computes", "free_names", "profile", "size")

    def __init__(self, profile: Profile, builders: dict[type, Builder]) -> None:
        self.profile = profile
        self.builders = builders
        self.size = 0
        self.computes = False  # whether anything in it needs FEEL's decimal context
        self.free_names: set[str] = set()


class Scope:
    """One name that is bound at a place of the text, inside the scopes around it.

    A filter's scope binds `item`, and at run time also every key of an item that is a context:
    `is_filter` says that a name has to be looked for there first.
    """

    __slots__ = ("is_filter", "name", "outer", "slot", "unit")

    def __init__(
        self,
        unit: Unit,
        outer: Scope | None = None,
        name: str = "",
        slot: int = -1,
        is_filter: bool = False,
    ) -> None:
        self.unit = unit
        self.outer = outer
        self.name = name
        self.slot = slot
        self.is_filter = is_filter

    def build(self, node: Node) -> Closure:
        """Compile a part of the tree in this scope."""
        return self.unit.builders[type(node)](node, self)

    def bind(self, name: str) -> Scope:
        """Open a scope in which a name has a slot of its own."""
        slot = self.unit.size
        self.unit.size = slot + 1
        return Scope(self.unit, self, name, slot)

    def bind_item(self) -> Scope:
        """Open the scope of a filter's condition."""
        slot = self.unit.size
        self.unit.size = slot + 1
        return Scope(self.unit, self, ITEM, slot, is_filter=True)

    def find(self, name: str) -> tuple[list[int], int]:
        """Find a name.

        Returns: the slots of the filter items to be asked for it first, from the inside, and the
            slot it is bound to; -1 if it is free.
        """
        items: list[int] = []
        scope: Scope | None = self
        while scope is not None and scope.slot >= 0:
            if scope.is_filter:
                items.append(scope.slot)
            if scope.name == name:
                return items, scope.slot
            scope = scope.outer
        return items, -1
