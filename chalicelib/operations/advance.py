"""The one way to change a process instance: its turns, then what these owe at once.

Whatever follows a commit cannot fail the request any more: its messages make up for it. Design
sections 3, 4.
"""

from __future__ import annotations

from chalicelib.delivery.horizon import DEADLINE
from chalicelib.engine.commands import Command, CreateInstance
from chalicelib.engine.turn import Turn
from chalicelib.operations.owed import run_inline
from chalicelib.operations.turns import take_start, take_turns
from chalicelib.ports import Ports
from chalicelib.store.definitions import Definition
from chalicelib.store.marks import Once


def advance(ports: Ports, key: int, command: Command, once: Once | None = None) -> Turn:
    """Change the instance that a key belongs to, by one command.

    Returns the last turn of the instance that was made on the way; it changes nothing if the
    command was a repeat, by what the instance says or by its mark.
    Raises: Rejected, also TooLarge; Conflict if other writers win until the deadline.
    """
    turn = take_turns(ports, key, command, ports.clock.now() + DEADLINE, once)
    return run_inline(ports, turn)


def start(ports: Ports, definition: Definition, command: CreateInstance) -> Turn:
    """Start an instance of a definition, and let it run until all its tokens wait.

    Raises: Rejected, also TooLarge; Conflict.
    """
    turn = start_once(ports, definition, command, None)
    assert turn is not None
    return turn


def start_once(
    ports: Ports, definition: Definition, command: CreateInstance, once: Once | None
) -> Turn | None:
    """Start an instance, and mark that it was; None if another request did both meanwhile.

    Raises: Rejected, also TooLarge; Conflict.
    """
    turn = take_start(ports, definition, command, once)
    return None if turn is None else run_inline(ports, turn)
