"""`headrace lint`: what a deployment of a model would be refused for, and what to look at again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from chalicelib.bpmn.lint import warnings_of
from chalicelib.bpmn.refusals import Fault, Refused
from chalicelib.engine.limits import ITEM_BYTES_MAX
from chalicelib.errors import Rejected
from chalicelib.feel.moment import Moment
from chalicelib.local.terminal import say
from chalicelib.operations.start_timers import compiled
from chalicelib.profile import Profile

FAULT, WARNING = "error", "warning"


def lint(files: Sequence[Path], profile: Profile, *, strict: bool) -> int:
    """Print the faults and warnings of models, each in a line `FILE:LINE: error: …`.

    Returns 1 if a deployment would be refused, a file cannot be read, or, if `strict`, for a
    warning; else 0.
    """
    worst = 0
    for file in files:
        faults, warnings = _judge(file, profile)
        for kind, found in ((FAULT, faults), (WARNING, warnings)):
            for each in found:
                place = f"{file}:{each.line}" if each.line else f"{file}"
                say(f"{place}: {kind}: {each.text}")
        worst = max(worst, bool(faults) or (strict and bool(warnings)))
    return int(worst)


def _judge(file: Path, profile: Profile) -> tuple[Sequence[Fault], Sequence[Fault]]:
    """Return the faults of a model; of one that has none the warnings."""
    try:
        xml = file.read_bytes()
        processes, _ = compiled(xml, profile, Moment(datetime.now(UTC)))
    except OSError as error:
        return [Fault(0, f"expected a file to read, found: {error.strerror}")], ()
    except Refused as refused:
        return refused.faults, ()
    except Rejected as rejected:
        return [Fault(0, line) for line in rejected.message.splitlines()], ()
    return (), warnings_of(xml, processes, ITEM_BYTES_MAX)
