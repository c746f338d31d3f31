"""How an attempt ended, before its times are put on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.scheduler.rows import Outcome

ERROR_MAX = 500  # characters of an error that history keeps


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of one attempt.

    Shapes: as `Attempt`; `error` names neither a header's value nor a secret, but `output` may.
    """

    outcome: Outcome
    status_code: int | None = None
    exit_code: int | None = None
    error: str = ""
    output: bytes = b""
    secrets: tuple[str, ...] = field(default=(), repr=False)


def succeeded(
    output: bytes, *, status_code: int | None = None, exit_code: int | None = None
) -> Ending:
    """Say that it did what it should."""
    return Ending(Outcome.SUCCEEDED, status_code, exit_code, output=output)


def failed(
    error: str,
    output: bytes = b"",
    *,
    status_code: int | None = None,
    exit_code: int | None = None,
) -> Ending:
    """Say that it failed, and another attempt may not."""
    return Ending(Outcome.FAILED, status_code, exit_code, error[:ERROR_MAX], output)


def cancelled(error: str) -> Ending:
    """Say that no attempt of this definition can succeed (Z63 to Z66)."""
    return Ending(Outcome.CANCELLED, error=error[:ERROR_MAX])
