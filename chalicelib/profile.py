"""The name of the published system whose semantics a definition follows (design section 6)."""

from __future__ import annotations

from enum import StrEnum


class Profile(StrEnum):
    """Fixed by the API a definition was deployed through, and kept on it for good."""

    ZENBPM = "zenbpm"
    PRIOSTACK = "priostack"
