"""The requirement graph of a model: who needs whom, and where it goes round in circles.

Nothing here recurses, so that a long chain of decisions needs no deep stack.
Source: DMN 1.5 section 6.2 (the graph has no circles).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chalicelib.dmn import model
from chalicelib.dmn.model import reference


class Home(NamedTuple):
    """A node and where it is defined."""

    definitions: model.Definitions
    node: model.Node


class Graph:
    """The nodes of a model by their references; `homes` holds them all."""

    def __init__(self, definitions: Iterable[model.Definitions]) -> None:
        self.homes: dict[str, Home] = {
            reference(each, node): Home(each, node) for each in definitions for node in each.nodes
        }

    def required(self, key: str) -> tuple[str, ...]:
        """Give what is made before a node: the inputs and decisions that it requires."""
        home = self.homes.get(key)
        return home.node.requires if home and isinstance(home.node, model.Decision) else ()

    def visible(self, key: str) -> tuple[str, ...]:
        """Give what the expression of a node may name: what it requires, and what it may call."""
        home = self.homes.get(key)
        if home is None or not isinstance(home.node, model.Decision | model.KnowledgeModel):
            return ()
        return (*self.required(key), *home.node.knows)

    def needed(self, key: str) -> tuple[str, ...]:
        """Give all that a node refers to; of a service, also what it consists of."""
        home = self.homes.get(key)
        if home is not None and isinstance(home.node, model.DecisionService):
            node = home.node
            return (*node.outputs, *node.encapsulated, *node.input_decisions, *node.input_data)
        return self.visible(key)

    def ordered(self, key: str, known: Mapping[str, object]) -> list[str]:
        """Give a node and what it refers to that is not known, each behind what it refers to.

        Of a circle, every node is given once.
        """
        order: list[str] = []
        seen: set[str] = set()
        waiting = [(key, False)]
        while waiting:
            current, is_done = waiting.pop()
            if is_done:
                order.append(current)
            elif current not in seen and current not in known and current in self.homes:
                seen.add(current)
                waiting.append((current, True))
                waiting.extend((each, False) for each in reversed(self.needed(current)))
        return order

    def circles(self) -> set[str]:
        """Give the nodes on circles, and on the ways between two of them.

        A function that calls itself is no circle.
        """
        edges = {
            key: {each for each in self.needed(key) if each in self.homes} for key in self.homes
        }
        for key, home in self.homes.items():
            if isinstance(home.node, model.KnowledgeModel):
                edges[key].discard(key)
        left = _without_ends(edges)
        backwards: dict[str, set[str]] = {key: set() for key in left}
        for key in left:
            for each in edges[key] & left:
                backwards[each].add(key)
        return _without_ends(backwards)


def _without_ends(edges: dict[str, set[str]]) -> set[str]:
    """Take away whoever needs nobody, then whoever needs nobody else that is left."""
    needing: dict[str, list[str]] = {key: [] for key in edges}
    count = {key: len(needs) for key, needs in edges.items()}
    for key, needs in edges.items():
        for each in needs:
            needing[each].append(key)
    free = [key for key, needs in count.items() if not needs]
    while free:
        key = free.pop()
        del count[key]
        for other in needing[key]:
            count[other] -= 1
            if not count[other]:
                free.append(other)
    return set(count)
