"""Keys: integers below 2^53 of which the process instance is read off by arithmetic.

A key is `block * 4096 + offset`. An instance takes a block and gives offsets of it to all that
belongs to it; its own key is offset 0. When a block is used up it takes another, whose alias
item names the instance. Design section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BLOCK_SIZE = 4096
FIRST_BLOCK = 2**20  # so that the smallest key is 2^32 and no key looks like a row number


class OutOfKeys(Exception):
    """The turn needs one more block than it was given; the caller reserves it and runs again."""


def block_of(key: int) -> int:
    """Return the block a key belongs to."""
    return key // BLOCK_SIZE


def first_key(block: int) -> int:
    """Return the first key of a block, which is an instance's own if it is its first block."""
    return block * BLOCK_SIZE


@dataclass(slots=True)
class Keys:
    """The keys one turn may give out: the rest of the instance's block, then spare ones."""

    block: int
    next_offset: int = 1
    spare: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)  # blocks that this turn began

    def block_for_child(self) -> int:
        """Return a block for another instance, which begins there. Raises: OutOfKeys."""
        if not self.spare:
            raise OutOfKeys
        return self.spare.pop(0)

    def next(self) -> int:
        """Return a fresh key. Raises: OutOfKeys."""
        offset = self.next_offset
        if offset == BLOCK_SIZE:
            if not self.spare:
                raise OutOfKeys
            self.block = self.spare.pop(0)
            self.taken.append(self.block)
            offset = 1
        self.next_offset = offset + 1
        return self.block * BLOCK_SIZE + offset
