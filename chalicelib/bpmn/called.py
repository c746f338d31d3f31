"""Call activities: which process is called, which version of it, and what goes along.

Source: contracts/bpmn.md 3.2 (calledElement, bindingType); contracts/zenbpm.md 4.2 (`in`).
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression, value_of
from chalicelib.bpmn.extensions import Extensions
from chalicelib.bpmn.model import NAME_MAX, Binding, CalledElement, Value
from chalicelib.bpmn.refusals import Faults, refusal
from chalicelib.xml_tree import Node, shown


def called_of(node: Node, extensions: Extensions) -> CalledElement:
    """Read what a call activity calls. Raises: Rejected."""
    extension = extensions.get("calledElement")
    faults = Faults()
    called = CalledElement(
        process_id=faults.tried(Value(""), _process_id, node, extension),
        binding=faults.tried(Binding.LATEST, _binding, node, extension),
        version_tag=faults.tried(None, _version_tag, node, extension),
        hands_down_all=faults.tried(True, _flag, node, extension, "propagateAllParentVariables"),
        hands_up_all=faults.tried(True, _flag, node, extension, "propagateAllChildVariables"),
        business_key=faults.tried(None, _business_key, node, extension, extensions.get("in")),
    )
    faults.check()
    return called


def _process_id(node: Node, extension: Node | None) -> Value:
    """Return the id of the process; that of the extension comes before the standard's."""
    text = None if extension is None else extension.get("processId")
    what = "attribute processId of calledElement"
    if text is None:
        text, what = node.get("calledElement"), "attribute calledElement"
    if text is None:
        raise refusal(
            node, "expected the id of a process (attribute processId of calledElement), found none"
        )
    if not text.startswith("=") and len(text) > NAME_MAX:
        raise refusal(node, f"{what}: expected at most {NAME_MAX} characters, found {len(text)}")
    return value_of(text, node, what)


def _binding(node: Node, extension: Node | None) -> Binding:
    text = None if extension is None else extension.get("bindingType")
    if text is None:
        return Binding.LATEST
    if text not in set(Binding):
        raise refusal(
            node,
            f"attribute bindingType of calledElement: expected one of {', '.join(Binding)}, "
            f"found {shown(text)}",
        )
    return Binding(text)


def _version_tag(node: Node, extension: Node | None) -> Value | None:
    tag = None if extension is None else extension.get("versionTag")
    if (
        extension is not None
        and extension.get("bindingType") == Binding.VERSION_TAG
        and tag is None
    ):
        raise refusal(
            node, 'calledElement: expected a versionTag with bindingType="versionTag", found none'
        )
    return None if tag is None else value_of(tag, node, "attribute versionTag of calledElement")


def _flag(node: Node, extension: Node | None, name: str) -> bool:
    return extension is None or boolean(extension, name, node) is not False


def _business_key(node: Node, extension: Node | None, given: Node | None) -> Value | None:
    """Return what computes the called instance's business key; blank is an empty one."""
    own = None if extension is None else extension.get("businessId")
    if own and given is not None:
        raise refusal(node, "expected one business key, found businessId and in")
    if given is not None and (text := given.raw("businessKey")) is not None:
        if not text.strip():
            return Value("")
        if not text.strip().startswith("="):
            raise refusal(
                node, f'attribute businessKey of in: expected FEEL after "=", found {shown(text)}'
            )
        return expression(text, node, "attribute businessKey of in")
    return None if own is None else value_of(own, node, "attribute businessId of calledElement")
