"""What AWS says of a call that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from botocore.exceptions import ClientError


def code_of(error: ClientError) -> str:
    """Return the code of a fault, such as `ConflictException`; empty if it has none."""
    return str(error.response.get("Error", {}).get("Code", ""))
