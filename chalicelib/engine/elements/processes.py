"""The process itself, which has an element instance only while its listeners are at work.

Those of its beginning come before whatever starts the instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import conditions, instances
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import Variables
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.errors import Rejected

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def begin(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Begin the instance, as was asked for when it was made. Raises: Stuck."""
    kept = draft.find(Variables, key)
    try:
        instances.begin(draft, instances.Beginning.read({} if kept is None else kept.values))
    except Rejected as refused:
        raise Stuck(ErrorType.IO_MAPPING_ERROR, refused.message) from refused
    draft.drop(Variables, key)
    conditions.begun(draft)


BEHAVIOURS = {Kind.PROCESS: begin}
