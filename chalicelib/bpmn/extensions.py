"""The extension elements of Zeebe and ZenBPM: jobs, headers, mappings, scripts, decisions.

They are known by their local name, whatever their prefix and namespace, declared or not. Where
both systems' own are there, ZenBPM's counts; of two of one system the first does. All other
extension elements are left alone: models are made with newer modelers than this engine.
Source: contracts/zenbpm.md section 4.2, contracts/bpmn.md section 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from chalicelib import json_text
from chalicelib.bpmn.durations import InvalidTime, parse_retry_policy
from chalicelib.bpmn.expressions import expression, optional_value, value_of
from chalicelib.bpmn.model import (
    NAME_MAX,
    Binding,
    DecisionCall,
    IoMapping,
    JobDefinition,
    Script,
    Value,
)
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import Faults, each, refusal
from chalicelib.json_text import JsonValue
from chalicelib.xml_tree import Node, shown

ZENBPM_NAMESPACE = "http://zenbpm.pbinitiative.org/1.0"
RETRIES_MAX = 2**31 - 1  # the contracts' int32
PATH_MAX = 100  # names in a mapping's target; JSON data may be 500 levels deep (json_text.py)

PRIORITY = "jobPriorityDefinition"
LINKED = "linkedResources"  # the element, and the header that workers know
LINK = ("resourceId", "resourceType", "linkName", "bindingType", "versionTag")

Extensions = Mapping[str, Node]


def extensions_of(node: Node) -> Extensions:
    """Return an element's extension elements by local name."""
    found: dict[str, Node] = {}
    for container in node.all("extensionElements"):
        for child in container.children:
            other = found.get(child.name)
            if other is None or (_is_zenbpm(child) and not _is_zenbpm(other)):
                found[child.name] = child
    return found


def job_of(
    node: Node, extensions: Extensions, reading: Reading, default_type: str | None = None
) -> JobDefinition:
    """Read what makes a job of an element. Raises: Rejected, also without a type."""
    definition = extensions.get("taskDefinition")
    assignment = extensions.get("assignmentDefinition")
    faults = Faults()
    job = JobDefinition(
        type=faults.tried(Value(""), _type, node, definition, default_type),
        retries=faults.tried(None, retries_of, node, definition, reading),
        retry_backoff=faults.tried(None, _retry_backoff, node, definition),
        headers=headers_of(extensions.get("taskHeaders")) | _linked(extensions.get(LINKED)),
        assignee=faults.tried(None, optional_value, node, assignment, "assignee"),
        candidate_groups=faults.tried(None, optional_value, node, assignment, "candidateGroups"),
        priority=faults.tried(None, _job_priority, node, extensions.get(PRIORITY)),
    )
    faults.check()
    return job


def script_of(node: Node, definition: Node) -> Script:
    """Read an inline FEEL script. Raises: Rejected without expression or result variable."""
    text, faults = definition.raw("expression") or "", Faults()
    result_variable = faults.tried("", _required, node, definition, "resultVariable")
    value = faults.tried(Value(""), expression, text, node, "attribute expression of script")
    faults.check()
    return Script(value.text, result_variable)


def decision_of(node: Node, definition: Node) -> DecisionCall:
    """Read the call of a decision.

    Raises: Rejected without decision, result variable or, where it is bound to one, version tag.
    """
    faults = Faults()
    faults.tried(None, _required, node, definition, "decisionId")
    decision_id = faults.tried(None, optional_value, node, definition, "decisionId")
    result_variable = faults.tried("", _required, node, definition, "resultVariable")
    binding = faults.tried((Binding.LATEST, None), _binding, node, definition)
    faults.check()
    assert decision_id is not None
    return DecisionCall(decision_id, result_variable, *binding)


def _required(node: Node, definition: Node, attribute: str) -> str:
    """Return what an attribute says. Raises: Rejected without it."""
    text = definition.get(attribute)
    if text is None:
        raise refusal(node, f"{definition.name}: expected an attribute {attribute}, found none")
    return text


def mappings_of(
    node: Node, extensions: Extensions, direction: str, reading: Reading
) -> tuple[IoMapping, ...]:
    """Read the input or output mappings of an element, in order. Raises: Rejected."""
    container = extensions.get("ioMapping")
    if container is None:
        return ()
    mappings = (child for child in container.children if child.name == direction)
    return tuple(each(lambda mapping: _mapping(node, mapping, reading), mappings))


def version_tag_of(extensions: Extensions) -> str | None:
    """Return a process's version tag, if it has one."""
    tag = extensions.get("versionTag")
    return None if tag is None else tag.get("value")


def _is_zenbpm(node: Node) -> bool:
    return node.namespace == ZENBPM_NAMESPACE or node.prefix == "zenbpm"


def _type(node: Node, definition: Node | None, default_type: str | None) -> Value:
    text = None if definition is None else definition.raw("type")
    if text and text.strip():
        if len(text) > NAME_MAX and not text.lstrip().startswith("="):
            raise refusal(
                node,
                f"attribute type of taskDefinition: expected at most {NAME_MAX} characters, "
                f"found {len(text)}",
            )
        return value_of(text, node, "attribute type of taskDefinition")
    if default_type is None:
        found = "no taskDefinition" if definition is None else "none"
        raise refusal(
            node, f"expected a job type (attribute type of taskDefinition), found {found}"
        )
    return Value(default_type)


def retries_of(node: Node, definition: Node | None, reading: Reading) -> Value | None:
    """Read how often a job may be tried; None if nothing is said. Raises: Rejected."""
    text = None if definition is None else definition.raw("retries")
    if definition is None or text is None:
        return None
    if not text.strip() and not reading.retries_are_literal:
        return None
    text = text.strip()
    if text.startswith("=") and not reading.retries_are_literal:
        return expression(text, node, f"attribute retries of {definition.name}")
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(RETRIES_MAX))
    if is_number and reading.retries_min <= int(text) <= RETRIES_MAX:
        return Value(text)
    feel = "" if reading.retries_are_literal else ', or FEEL after "="'
    raise refusal(
        node,
        f"attribute retries of {definition.name}: expected a whole number from "
        f"{reading.retries_min} to {RETRIES_MAX}{feel}, found {shown(text)}",
    )


def _job_priority(node: Node, definition: Node | None) -> Value | None:
    """Read how urgent a job is; None if nothing is said."""
    value = optional_value(node, definition, "priority")
    if value is None or value.is_feel or re.fullmatch(r"-?[0-9]{1,9}", value.text.strip()):
        return value
    raise refusal(
        node,
        "attribute priority of jobPriorityDefinition: expected a whole number of at most nine "
        f'digits, or FEEL after "=", found {shown(value.text)}',
    )


def _retry_backoff(node: Node, definition: Node | None) -> Value | None:
    value = optional_value(node, definition, "retryBackoff")
    if value is None or value.is_feel:
        return value
    try:
        parse_retry_policy(value.text)
    except InvalidTime as error:
        raise refusal(node, f"attribute retryBackoff of taskDefinition: {error}") from error
    return value


def _binding(node: Node, definition: Node) -> tuple[Binding, str | None]:
    """Read which version of what is called is meant; a tag only counts where it is asked for."""
    text = definition.get("bindingType") or Binding.LATEST.value
    if text not in set(Binding):
        raise refusal(
            node,
            f"attribute bindingType of {definition.name}: expected one of "
            f"{', '.join(Binding)}, found {shown(text)}",
        )
    binding, tag = Binding(text), definition.get("versionTag")
    if binding is not Binding.VERSION_TAG:
        return binding, None
    if tag is None:
        raise refusal(node, f"{definition.name}: expected an attribute versionTag, found none")
    return binding, tag


def headers_of(container: Node | None) -> dict[str, str]:
    """Read static headers; one without a key says nothing."""
    if container is None:
        return {}
    return {
        key: child.raw("value") or ""
        for child in container.children
        if child.name == "header" and (key := child.raw("key")) and key.strip()
    }


def _linked(container: Node | None) -> dict[str, str]:
    """Return the header that names the resources which a job works with, as they are drawn.

    They are deployed nowhere here, so no key is told; a worker finds them by their ids.
    """
    if container is None:
        return {}
    found: list[JsonValue] = [
        {name: value for name in LINK if (value := child.get(name)) is not None}
        for child in container.children
        if child.name == "linkedResource" and child.get("resourceId") is not None
    ]
    return {LINKED: json_text.dumps(found)} if found else {}


def _mapping(node: Node, mapping: Node, reading: Reading) -> IoMapping:
    faults = Faults()
    target = faults.tried("", _target, node, mapping)
    source, what = mapping.raw("source"), f"attribute source of {mapping.name}"
    value = reading.missing_source
    if source is not None:
        value = faults.tried(None, value_of, source, node, what)
    faults.check()
    return IoMapping(value, target)


def _target(node: Node, mapping: Node) -> str:
    target = mapping.get("target") or ""
    names = target.split(".")
    if target.startswith("=") or len(names) > PATH_MAX or not all(map(str.strip, names)):
        raise refusal(
            node,
            f"attribute target of {mapping.name}: expected names joined by dots, "
            f"found {shown(target)}",
        )
    return target
