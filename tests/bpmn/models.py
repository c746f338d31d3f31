"""Small BPMN texts, put together for one test each, and what the parser makes of them."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import parse
from chalicelib.bpmn.model import Element, Process
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile

NAMESPACES = (
    'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" '
    'xmlns:zenbpm="http://zenbpm.pbinitiative.org/1.0"'
)
START, END = '<startEvent id="start"/>', '<endEvent id="end"/>'


def model(body: str, *, process: str = 'id="order" isExecutable="true"', around: str = "") -> bytes:
    """Return a file with one process of that body; `around` stands beside the process."""
    return (
        f"<definitions {NAMESPACES}>{around}<process {process}>{body}</process></definitions>"
    ).encode()


def flow(source: str, target: str, condition: str | None = None) -> str:
    """Return a sequence flow named after its ends."""
    inner = "" if condition is None else f"<conditionExpression>{condition}</conditionExpression>"
    return (
        f'<sequenceFlow id="{source}-{target}" sourceRef="{source}" targetRef="{target}">'
        f"{inner}</sequenceFlow>"
    )


def line(element: str, *, id_: str = "a", around: str = "", beside: str = "") -> bytes:
    """Return a process of a start event, one element of that id, and an end event."""
    flows = flow("start", id_) + flow(id_, "end")
    return model(START + element + END + flows + beside, around=around)


def extended(tag: str, extensions: str, attributes: str = "") -> str:
    """Return an element `a` with extension elements."""
    inner = f"<extensionElements>{extensions}</extensionElements>" if extensions else ""
    return f'<{tag} id="a" {attributes}>{inner}</{tag}>'


def timer_event(tag: str, kind: str, text: str, attributes: str = "") -> str:
    """Return a timer event `a`."""
    definition = f"<timerEventDefinition><{kind}>{text}</{kind}></timerEventDefinition>"
    return f'<{tag} id="a" {attributes}>{definition}</{tag}>'


def parsed(xml: bytes, profile: Profile = Profile.ZENBPM) -> Process:
    """Return the one process of a file."""
    (process,) = parse(xml, profile)
    return process


def element(xml: bytes, profile: Profile = Profile.ZENBPM, id_: str = "a") -> Element:
    """Return one element of the one process of a file."""
    return parsed(xml, profile).elements[id_]


def refusal_of(xml: bytes, profile: Profile = Profile.ZENBPM) -> str:
    """Return the message a file is refused with."""
    with pytest.raises(Rejected) as refused:
        parse(xml, profile)
    assert Reason.INVALID_ARGUMENT == refused.value.reason
    return refused.value.message
