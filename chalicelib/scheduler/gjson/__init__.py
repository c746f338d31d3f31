"""gjson paths on raw JSON text: what a loop asks of an answer.

The text is never parsed as a whole: it is scanned from its first bracket to the value, so text
before it, a cut-off end and much that is not quite JSON do not matter. Nothing raises and
everything ends: what is malformed is absent or read as gjson reads it, and what would pass a bound
of `limits` is absent.
Source: contracts/gjson.md, measured with gjson 1.18.
"""

from __future__ import annotations

from chalicelib.scheduler.gjson.evaluation import evaluate
from chalicelib.scheduler.gjson.limits import PATH_MAX, TEXT_MAX
from chalicelib.scheduler.gjson.result import ABSENT, Result, Type, whole
from chalicelib.scheduler.gjson.work import TooMuch, Work, run

__all__ = ["Result", "Type", "get"]


def get(text: bytes, path: str) -> Result:
    """Return what a path leads to in a text, absent if nothing."""
    return search(text, path, Work())


def search(text: bytes, path: str, work: Work) -> Result:
    """Do as `get` does, and leave in `work` how much was done."""
    if len(path) > PATH_MAX or len(text) > TEXT_MAX:
        return ABSENT
    try:
        return run(evaluate(work, whole(text), path.encode(errors="surrogatepass")))
    except TooMuch:
        return ABSENT
