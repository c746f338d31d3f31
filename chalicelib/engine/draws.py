"""Chance within a turn: it comes out of a seed, so a turn that is decided again draws the same."""

from __future__ import annotations

BITS_MAX = 256  # of one draw: a SHA-256


class Draws:
    """Random bits out of a seed. Whoever sees some of them can tell neither it nor the others."""

    __slots__ = ("_count", "_seed")

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def bits(self, count: int) -> int:
        """Return a number of so many bits, at most BITS_MAX."""
        from hashlib import sha256  # noqa: PLC0415 - few expressions draw

        assert 0 < count <= BITS_MAX
        self._count += 1
        digest = sha256(f"feel {self._seed} {self._count}".encode()).digest()
        return int.from_bytes(digest, "big") >> (BITS_MAX - count)
