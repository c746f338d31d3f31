"""The scopes of an expression while it is compiled, and the slots of what it binds itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from chalicelib.feel.profile import Profile
from chalicelib.feel.tree import Node
from chalicelib.feel.types import FeelType

if TYPE_CHECKING:
    from chalicelib.feel.evaluation import Closure

# Each takes the class of the tree that the table in `compiler` has it under.
Builder = Callable[[Any, "Scope"], "Closure"]

ITEM = "item"
NODES_PER_STEP = 16  # parts of the tree that are evaluated in one step


class Unit:
    """What one whole expression gathers: its slots, its free names, whether it computes."""

    __slots__ = ("builders", "computes", "free_names", "nodes", "profile", "size", "types")

    def __init__(
        self, profile: Profile, builders: dict[type, Builder], types: Mapping[str, FeelType]
    ) -> None:
        self.profile = profile
        self.builders = builders
        self.types = types
        self.size = 0
        self.nodes = 0  # parts of the tree that were compiled
        self.computes = False  # whether anything in it needs FEEL's decimal context
        self.free_names: set[str] = set()


class Scope:
    """The names that are bound at a place of the text, inside the scopes around it.

    Names are declared one after the other while their scope is compiled, so each part sees those
    before it only. A filter's scope binds `item`, whose slot is `item` here; at run time every
    key of an item that is a context is bound there as well, and has to be looked for first.
    """

    __slots__ = ("item", "outer", "slots", "unit")

    def __init__(self, unit: Unit, outer: Scope | None = None) -> None:
        self.unit = unit
        self.outer = outer
        self.slots: dict[str, int] = {}
        self.item = -1

    def build(self, node: Node) -> Closure:
        """Compile a part of the tree in this scope."""
        self.unit.nodes += 1
        return self.unit.builders[type(node)](node, self)

    def steps_since(self, nodes: int) -> int:
        """Give the steps that one time takes of what was compiled since there were `nodes`."""
        return 1 + (self.unit.nodes - nodes) // NODES_PER_STEP

    def inner(self) -> Scope:
        """Open a scope inside of this one."""
        return Scope(self.unit, self)

    def declare(self, name: str) -> int:
        """Bind a name from here on, and give the slot that will hold its value."""
        slot = self.slots[name] = self.unit.size
        self.unit.size = slot + 1
        return slot

    def declare_item(self) -> int:
        """Make this the scope of a filter's condition, and give the slot of the item."""
        self.item = self.declare(ITEM)
        return self.item

    def find(self, name: str) -> tuple[list[int], int]:
        """Find a name.

        Returns: the slots of the filter items to be asked for it first, from the inside, and the
            slot it is bound to; -1 if it is free.
        """
        items: list[int] = []
        scope: Scope | None = self
        while scope is not None:
            if scope.item >= 0:
                items.append(scope.item)
            slot = scope.slots.get(name)
            if slot is not None:
                return items, slot
            scope = scope.outer
        return items, -1
