"""Randomness that is the same in every run."""

from __future__ import annotations

import random


class SeededChance:
    """Ids and shares off one seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def id(self) -> str:
        return f"{self._random.getrandbits(128):032x}"

    def share(self) -> float:
        return self._random.random()
