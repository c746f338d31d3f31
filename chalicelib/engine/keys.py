"""Keys: integers below 2^53 of which the process instance is read off by arithmetic.

A key is `block * 4096 + offset`. An instance takes a block and gives offsets of it to all that
belongs to it; its own key is offset 0. When a block is used up it takes another, whose alias
item names the instance. Design section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import length_hint

BLOCK_SIZE = 4096
BLOCKS_MAX = 32  # that a turn is given at once: more children than that start on the next
FIRST_BLOCK = 2**20  # so that the smallest key is 2^32 and no key looks like a row number


class OutOfKeys(Exception):
    """The turn needs more blocks than it was given; the caller reserves them and runs again."""

    def __init__(self, wanted: int = 1) -> None:
        super().__init__(f"{wanted} more key blocks are needed")
        self.wanted = wanted


def block_of(key: int) -> int:
    """Return the block a key belongs to."""
    return key // BLOCK_SIZE


def first_key(block: int) -> int:
    """Return the first key of a block, which is an instance's own if it is its first block."""
    return block * BLOCK_SIZE


class Keys:
    """The keys one turn may give out: the rest of the instance's block, then spare ones.

    Shapes: `taken` are the blocks that this turn began. What is left of a block is an iterator, as
        every move of a token takes two keys.
    """

    __slots__ = ("_left", "block", "spare", "taken")

    def __init__(self, block: int, next_offset: int = 1, spare: Iterable[int] = ()) -> None:
        self.spare: list[int] = [*spare]
        self.taken: list[int] = []
        self._begin(block, next_offset)

    def _begin(self, block: int, offset: int) -> None:
        self.block = block
        self._left = iter(range(block * BLOCK_SIZE + offset, (block + 1) * BLOCK_SIZE))

    @property
    def next_offset(self) -> int:
        """The offset in the block of the key that is next."""
        return BLOCK_SIZE - length_hint(self._left)

    def block_for_child(self, wanted: int = 1) -> int:
        """Return a block for another instance, which begins there, of so many that will be.

        Raises: OutOfKeys.
        """
        if not self.spare:
            raise OutOfKeys(min(wanted, BLOCKS_MAX))
        return self.spare.pop(0)

    def take_back(self, block: int) -> None:
        """Go on in a block that another instance was to begin in: none begins there any more."""
        self.taken.append(block)
        self._begin(block, 1)

    def next(self) -> int:
        """Return a fresh key. Raises: OutOfKeys."""
        for key in self._left:
            return key
        if not self.spare:
            raise OutOfKeys
        block = self.spare.pop(0)
        self.taken.append(block)
        self._begin(block, 1)
        return next(self._left)
