"""Call activities: which process is called, which version of it, and what goes along.

Source: contracts/bpmn.md 3.2 (calledElement, bindingType); contracts/zenbpm.md 4.2 (`in`).
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression, value_of
from chalicelib.bpmn.extensions import Extensions
from chalicelib.bpmn.model import NAME_MAX, Binding, CalledElement, Value
from chalicelib.bpmn.refusals import refusal
from chalicelib.xml_tree import Node, shown


def called_of(node: Node, extensions: Extensions) -> CalledElement:
    """Read what a call activity calls. Raises: Rejected."""
    extension = extensions.get("calledElement")
    binding = _binding(node, extension)
    tag = None if extension is None else extension.get("versionTag")
    if (binding is Binding.VERSION_TAG) and tag is None:
        raise refusal(
            node, 'calledElement: expected a versionTag with bindingType="versionTag", found none'
        )
    if extension is not None and extension.get("businessId") and "in" in extensions:
        raise refusal(node, "expected one business key, found businessId and in")
    return CalledElement(
        process_id=_process_id(node, extension),
        binding=binding,
        version_tag=None if tag is None else value_of(tag, node, "attribute versionTag"),
        hands_down_all=_flag(extension, "propagateAllParentVariables"),
        hands_up_all=_flag(extension, "propagateAllChildVariables"),
        business_key=_business_key(node, extension, extensions.get("in")),
    )


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
        known = ", ".join(Binding)
        raise refusal(node, f"attribute bindingType: expected {known}, found {shown(text)}")
    return Binding(text)


def _flag(extension: Node | None, name: str) -> bool:
    return extension is None or boolean(extension, name) is not False


def _business_key(node: Node, extension: Node | None, given: Node | None) -> Value | None:
    """Return what computes the called instance's business key; blank is an empty one."""
    if given is not None and (text := given.raw("businessKey")) is not None:
        if not text.strip():
            return Value("")
        if not text.strip().startswith("="):
            raise refusal(
                node, f'attribute businessKey of in: expected FEEL after "=", found {shown(text)}'
            )
        return expression(text, node, "attribute businessKey of in")
    text = None if extension is None else extension.get("businessId")
    return None if text is None else value_of(text, node, "attribute businessId of calledElement")
