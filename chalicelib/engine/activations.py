"""A caller activates elements of an ad-hoc subprocess that is live.

Source: Camunda 8 documentation, "Activate activities within an ad-hoc sub-process".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engine import ad_hoc, ad_hoc_jobs, lifecycle, purges
from chalicelib.engine.commands import ActivateElements
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Incident, Stage
from chalicelib.errors import Reason, Rejected

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def activate(draft: Draft, command: ActivateElements) -> None:
    """Activate elements, each as often as it is named; `cancels_remaining` ends first what is
    active.

    Raises: Rejected(NOT_FOUND) unless the key is that of a live ad-hoc subprocess;
        Rejected(INVALID_ARGUMENT) if nothing is named, or what cannot be activated;
        Rejected(INVALID_STATE) if it is not open yet, is complete but for what is active, or is
        about to end. Nothing changes then.
    """
    element = draft.live.get(command.key)
    node = None if element is None else draft.node_of(element)
    if element is None or node is None or node.ad_hoc is None:
        raise lifecycle.no_such("ad-hoc subprocess", command.key)
    whose = f"ad-hoc subprocess {node.id} ({command.key})"
    _check_named(node, command, whose)
    _check_open(draft, element, whose)
    if command.cancels_remaining:
        ad_hoc.withdraw_all(draft, element.key)
    ad_hoc.order(draft, node, element.key, command.elements)


def _check_named(node: Node, command: ActivateElements, whose: str) -> None:
    if not command.elements:
        raise Rejected(
            Reason.INVALID_ARGUMENT, f"{whose}: expected elements to activate, found none"
        )
    named = (each.element_id for each in command.elements)
    unknown = ad_hoc.unknown_ids(ad_hoc.plan_of(node), named)
    if unknown is not None:
        raise Rejected(Reason.INVALID_ARGUMENT, f"{whose}: {unknown}")


def _check_open(draft: Draft, element: ElementInstance, whose: str) -> None:
    lifecycle.require_active(draft.state, f"{whose}: its process instance has ended")
    incident = None if element.incident is None else draft.find(Incident, element.incident)
    found = None
    if ad_hoc_jobs.is_listened_to(draft, element):
        found = "one whose listeners are at work"
    elif incident is not None and incident.stage in (Stage.ENTERING, Stage.LEAVING):
        found = f"one that incident {incident.key} stops"
    elif element.is_ending:
        found = "one whose completion condition is fulfilled"
    elif purges.is_ending(draft, element.key):
        found = "one that is being ended"
    if found is not None:
        raise Rejected(
            Reason.INVALID_STATE,
            f"{whose}: expected one that more can be activated in, found {found}",
        )
