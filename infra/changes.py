"""What a deployment would do, and what it does: change sets and stack events, read for a person.

Source: AWS CloudFormation API Reference, `ResourceChange`, `ResourceChangeDetail`, `StackEvent`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient

MAKE, CHANGE, REPLACE, REMOVE, ADOPT = "make", "change", "replace", "remove", "adopt"
_VERBS = {"Add": MAKE, "Remove": REMOVE, "Import": ADOPT}
_CAUSES = {
    "ParameterReference": "parameter",
    "ResourceReference": "resource",
    "ResourceAttribute": "resource",
}
Event = Mapping[str, Any]


class TookTooLong(Exception):
    """A stack was still being changed when the longest wait was over."""


@dataclass(frozen=True, slots=True)
class Change:
    """What would happen to one resource. Shapes: `why` is empty where it is made or removed."""

    verb: str
    resource: str
    kind: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verb:8} {self.kind:34} {self.resource:26} {self.why}".rstrip()


def read(client: CloudFormationClient, change_set: str) -> list[Change]:
    """Return all changes of a change set, by the name of the resource."""
    found: list[Change] = []
    more: Any = {}
    while True:
        page: Any = client.describe_change_set(ChangeSetName=change_set, **more)
        found += [_change(each["ResourceChange"]) for each in page.get("Changes", [])]
        if not page.get("NextToken"):
            return sorted(found, key=lambda change: change.resource)
        more = {"NextToken": page["NextToken"]}


def _change(told: Mapping[str, Any]) -> Change:
    verb = _VERBS.get(told["Action"], CHANGE)
    is_replaced = told.get("Replacement", "False") == "True"
    why = dict.fromkeys(_reason(each) for each in told.get("Details", []))
    return Change(
        REPLACE if verb == CHANGE and is_replaced else verb,
        told["LogicalResourceId"],
        told["ResourceType"],
        ", ".join(reason for reason in why if reason),
    )


def _reason(detail: Mapping[str, Any]) -> str:
    """Return what changes of a resource, and whose change is the cause of it."""
    target = detail.get("Target", {})
    changed = str(target.get("Name") or target.get("Attribute", ""))
    cause = _CAUSES.get(detail.get("ChangeSource", ""))
    if cause and detail.get("CausingEntity"):
        changed += f" (by {cause} {detail['CausingEntity']})"
    if target.get("RequiresRecreation") == "Always":
        changed += " asks for a new one"
    return changed


def last_event(client: CloudFormationClient, stack: str) -> str:
    """Return the id of the newest event of a stack."""
    events = client.describe_stack_events(StackName=stack)["StackEvents"]
    return events[0]["EventId"] if events else ""


def follow(
    client: CloudFormationClient,
    stack: str,
    *,
    after: str,
    tell: Callable[[Event], None],
    poll_s: float,
    most_s: float,
) -> str:
    """Tell what happens to a stack after an event, until it is over; return how it ended.

    Raises: TookTooLong.
    """
    for _ in range(max(1, int(most_s / poll_s))):
        for event in reversed(list(_since(client, stack, after))):
            after = event["EventId"]
            tell(event)
            status = str(event["ResourceStatus"])
            is_the_stacks = event["PhysicalResourceId"] == event["StackId"]
            if is_the_stacks and not status.endswith("_IN_PROGRESS"):
                return status
        time.sleep(poll_s)
    raise TookTooLong(f"stack {stack} is still being changed after {most_s:.0f} s")


def _since(client: CloudFormationClient, stack: str, after: str) -> Iterator[Event]:
    """Yield the events after one, the newest first."""
    for page in client.get_paginator("describe_stack_events").paginate(StackName=stack):
        for event in page["StackEvents"]:
            if event["EventId"] == after:
                return
            yield event
