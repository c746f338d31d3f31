"""The page `docs/state-machines.md`, drawn out of the tables that decide: `make docs` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from chalicelib.engine.lifecycle import INSTANCE_LEADS_TO, JOB_ACCEPTS, JOB_LEADS_TO
from chalicelib.engine.state import InstanceState, JobState
from infra.package import ROOT

PAGE = ROOT / "docs" / "state-machines.md"

S = TypeVar("S", bound=StrEnum)


def page() -> str:
    """Return the page as it should be."""
    accepts = "\n".join(
        f"| `{state}` | {', '.join(sorted(c.__name__ for c in commands)) or 'nothing'} |"
        for state, commands in JOB_ACCEPTS.items()
    )
    return (
        "# State machines\n\n"
        "Drawn out of `chalicelib/engine/lifecycle.py` by `make docs`; a test of the house checks\n"
        "that this page is fresh.\n\n"
        "## A job\n\n"
        "Whether a worker has it is said by its owner and lock, and whether it waits out a\n"
        "backoff by its `retryAt`: neither is a state. A failure that leaves retries leaves it\n"
        "`active`.\n\n"
        f"{_diagram(JobState.ACTIVE, JOB_LEADS_TO)}\n"
        "| in state | a worker may say |\n|---|---|\n"
        f"{accepts}\n\n"
        "To complete a completed job again is accepted and changes nothing (R2).\n\n"
        "## A process instance\n\n"
        "An incident is not a state: it is counted. `terminating` is a cancel that needs more\n"
        "than one turn.\n\n"
        f"{_diagram(InstanceState.ACTIVE, INSTANCE_LEADS_TO)}"
    )


def _diagram(first: S, leads_to: Mapping[S, frozenset[S]]) -> str:
    lines = [f"    [*] --> {first}"]
    for state, followers in leads_to.items():
        lines += [f"    {state} --> {follower}" for follower in sorted(followers)]
        if not followers:
            lines.append(f"    {state} --> [*]")
    return "```mermaid\nstateDiagram-v2\n" + "\n".join(lines) + "\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
