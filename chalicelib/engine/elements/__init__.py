"""What each kind of element does when a token enters it: one row per kind, by family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine.elements import (
    activities,
    business_rules,
    events,
    gateways,
    processes,
    subprocesses,
)

if TYPE_CHECKING:
    from chalicelib.engine.draft import Draft
    from chalicelib.engine.plans import Node

# Draft, element, key of the scope, key of the element instance. Raises: Stuck, before it changed
# anything that trying again would do twice.
Behaviour = Callable[["Draft", "Node", int, int], None]

BEHAVIOURS: Mapping[Kind, Behaviour] = {
    **activities.BEHAVIOURS,
    **business_rules.BEHAVIOURS,
    **events.BEHAVIOURS,
    **gateways.BEHAVIOURS,
    **processes.BEHAVIOURS,
    **subprocesses.BEHAVIOURS,
}
