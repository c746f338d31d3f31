"""BPMN XML to processes: the file as a whole.

A file is read in three steps, each of which refuses what it can judge: the XML (`xml_reader.py`),
the processes that are to run (here), and the elements and flows of each (`process.py`).
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.model import FILE_BYTES_MAX, Process
from chalicelib.bpmn.names import definitions_of
from chalicelib.bpmn.process import Judge, compile_process
from chalicelib.bpmn.reading import READINGS
from chalicelib.bpmn.refusals import Fault, Faults, Refused, described, refusal
from chalicelib.errors import TooLarge
from chalicelib.profile import Profile
from chalicelib.xml_tree import Node, shown

BPMN_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/MODEL"
SHOWN_MAX = 5  # processes that a message names
PROCESSES_MAX = 30  # that are deployed at once: three writes each in one transaction


def parse(xml: bytes, profile: Profile, judge: Judge | None = None) -> list[Process]:
    """Compile every executable process of a BPMN file, in the order of the file.

    Shapes: `judge` says what else is wrong with a process, with its other faults.

    Raises: TooLarge above FILE_BYTES_MAX and PROCESSES_MAX; Refused, which names all that is wrong
        with the model or cannot be run, each by the element, its id, name and line.
    Source: BPMN 2.0.2 chapter 10; contracts/bpmn.md section 3.1.
    """
    from chalicelib.xml_reader import NotXml, read  # noqa: PLC0415 (it loads lxml)

    if len(xml) > FILE_BYTES_MAX:
        raise TooLarge(f"expected a model of at most {FILE_BYTES_MAX} bytes, found {len(xml)}")
    try:
        root = read(xml)
    except NotXml as error:
        raise Refused([Fault(error.line, str(error))], {"is_malformed": True}) from error
    if root.name != "definitions" or root.namespace not in (BPMN_NAMESPACE, None):
        expected = f"expected a BPMN model: an element definitions in namespace {BPMN_NAMESPACE}"
        instead = f"{shown(root.name)} in namespace {shown(root.namespace or '')}"
        raise Refused([Fault(root.line, f"{expected}, found {instead}")])
    known, faults = definitions_of(root), Faults()
    executable = _executable(root, faults)
    if len(executable) > PROCESSES_MAX:
        found = len(executable)
        raise TooLarge(f"expected at most {PROCESSES_MAX} executable processes, found {found}")
    processes = [
        faults.tried(None, compile_process, node, READINGS[profile], known, judge)
        for node in executable
    ]
    faults.check()
    return [process for process in processes if process is not None]


def _executable(root: Node, faults: Faults) -> list[Node]:
    """Return the processes that are to run: those that say so; if none does, those that do not
    say that they are not. What says something else, or has the id of another, is noted.

    The standard leaves `isExecutable` without a default (BPMN 2.0.2 table 10.1). Hand-written
    models leave it away and mean to run; in a file where one pool says `true`, a silent one is
    another party that is only drawn.

    Raises: Refused if nothing is to run.
    """
    found = [
        (node, faults.tried(True, boolean, node, "isExecutable")) for node in root.all("process")
    ]
    executable = [node for node, says in found if says is True]
    executable = executable or [node for node, says in found if says is None]
    if not executable:
        drawn = ", ".join(described(node) for node, _ in found[:SHOWN_MAX])
        said = f"only {drawn}" if drawn else "no process at all"
        expected = 'expected an executable process (isExecutable="true")'
        raise Refused([Fault(root.line, f"{expected}, found {said}")])
    seen: dict[str, Node] = {}
    for node in executable:
        faults.tried(None, _check_id, node, seen)
    return executable


def _check_id(process: Node, seen: dict[str, Node]) -> None:
    """Refuse the id of a process that another has; compiling tells of one without any."""
    id_ = process.get("id")
    other = process if id_ is None else seen.setdefault(id_, process)
    if other is not process:
        raise refusal(process, f"expected an id of its own, found it at {described(other)}")
