"""The models that others drew: where they lie, and what is wrong with those that cannot be run."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from chalicelib.bpmn import parse
from chalicelib.bpmn.model import Kind, Process
from chalicelib.bpmn.refusals import Refused
from chalicelib.errors import Rejected
from chalicelib.profile import Profile

SHARED = Path(os.environ.get("HEADRACE_SHARED", Path(__file__).parents[3] / "shared"))
MODELS = sorted((SHARED / "bpmn").glob("*.bpmn"))
REFUSALS = Path(__file__).parent / "refusals.txt"

needs_models = pytest.mark.skipif(
    not MODELS, reason=f"needs the models of {SHARED / 'bpmn'} (HEADRACE_SHARED)"
)


# --- what is refused ---------------------------------------------------------------------------


def faults_of(path: Path, profile: Profile) -> list[str]:
    """Return what is wrong with a model, in the words it is refused with; nothing if it runs."""
    try:
        parse(path.read_bytes(), profile)
    except Refused as refused:
        return [fault.text for fault in refused.faults]
    except Rejected as rejected:
        return [rejected.message]
    return []


def written(path: Path) -> str:
    """Return the section of a refused model in `refusals.txt`; empty for one that is not."""
    found = {profile: faults_of(path, profile) for profile in Profile}
    shared = set.intersection(*(set(faults) for faults in found.values()))
    lines = [f"  {text}" for text in found[Profile.ZENBPM] if text in shared]
    for profile, faults in found.items():
        lines += [f"  {profile} alone: {text}" for text in faults if text not in shared]
    return "\n".join([path.stem, *lines, ""]) if lines else ""


def refusals() -> dict[str, str]:
    """Return the sections of `refusals.txt` by the names of their models."""
    sections = re.findall(r"^\S+\n(?: .*\n)+", REFUSALS.read_text(), re.MULTILINE)
    return {section.splitlines()[0]: section for section in sections}


# --- what runs ---------------------------------------------------------------------------------


@cache
def processes_of(path: Path, profile: Profile) -> list[Process]:
    """Return the executable processes of a model that is not refused."""
    return [] if faults_of(path, profile) else parse(path.read_bytes(), profile)


def file_of(process_id: str) -> Path | None:
    """Return the model that has a process of that id, if any can be run."""
    for path in MODELS:
        if any(process.id == process_id for process in processes_of(path, Profile.ZENBPM)):
            return path
    return None


def called_by(process: Process) -> set[str]:
    """Return the ids of the processes that a process calls."""
    called = [element.called for element in process.elements.values() if element.called]
    return {each.process_id.text for each in called if not each.process_id.is_feel}


def decisions_of(process: Process) -> set[str]:
    """Return the ids of the decisions that a process asks for."""
    asked = [element.decision for element in process.elements.values() if element.decision]
    return {each.decision_id.text for each in asked if not each.decision_id.is_feel}


def starts_of(path: Path, process_id: str) -> list[str]:
    """Return the ids of the start events of a process itself."""
    return [
        element.id
        for element in process_of(path, process_id).elements.values()
        if element.kind is Kind.START_EVENT and element.scope == process_id
    ]


def elements_of(path: Path, process_id: str) -> set[str]:
    """Return the ids of all elements of a process."""
    return set(process_of(path, process_id).elements)


def process_of(path: Path, process_id: str, profile: Profile = Profile.ZENBPM) -> Process:
    """Return a process of a model that is not refused."""
    (found,) = (each for each in processes_of(path, profile) if each.id == process_id)
    return found


def runs() -> list[tuple[Path, str]]:
    """Return every model that runs, with each of its processes by its id."""
    return [(path, process.id) for path in MODELS for process in processes_of(path, Profile.ZENBPM)]


if __name__ == "__main__":
    REFUSALS.write_text("".join(written(path) for path in MODELS))
