"""Queued commands: what they say, and which of them are real."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from chalicelib.delivery import commands
from chalicelib.delivery.commands import QueuedCommand, Source, judge
from chalicelib.delivery.verdicts import Early, LiveDue, Spare, Verdict
from chalicelib.engine.commands import (
    BroadcastSignal,
    Continue,
    OfferMessage,
    Owed,
    PublishMessage,
    Retire,
    SeekMessage,
    SeekStart,
)
from chalicelib.errors import Rejected, TooLarge
from chalicelib.profile import Profile
from tests.fakes.clock import BEGIN

QUEUED = QueuedCommand(2**32, Continue(), BEGIN, Source(2**32, version=3, turn_id="mine"))


def test_a_command_comes_back_from_its_body_as_it_was() -> None:
    unsent = replace(QUEUED, source=None)

    assert QUEUED == commands.from_text(commands.to_text(QUEUED))
    assert unsent == commands.from_text(commands.to_text(unsent))


def test_a_command_that_is_unheard_of_is_rejected() -> None:
    with pytest.raises(Rejected, match="found 'explode'"):
        commands.from_text(commands.to_text(QUEUED).replace("continue", "explode"))


@pytest.mark.parametrize(
    ("verdict", "root_version", "turn_id"),
    [
        pytest.param(LiveDue(), 3, "mine", id="its turn made that version"),
        pytest.param(Spare(), 9, "mine", id="others came after, and made its moves or owe them"),
        pytest.param(Spare(), 3, "another", id="another turn made that version"),
        pytest.param(Spare(), 3, None, id="no turn is known"),
        pytest.param(Early(), 2, None, id="its turn may come"),
        pytest.param(Early(), None, None, id="no root yet"),
    ],
)
def test_a_command_is_real_if_the_turn_it_names_was(
    verdict: Verdict, root_version: int | None, turn_id: str | None
) -> None:
    assert verdict == judge(QUEUED, root_version, turn_id, BEGIN)


def test_to_retire_is_owed_whatever_came_after() -> None:
    queued = replace(QUEUED, command=Retire())

    assert queued == commands.from_text(commands.to_text(queued))
    assert LiveDue() == judge(queued, 9, "mine", BEGIN)


def test_a_command_that_nobody_sent_is_always_real() -> None:
    assert LiveDue() == judge(replace(QUEUED, source=None), None, None, BEGIN)


def test_an_early_command_is_kept_for_the_horizon_and_no_longer() -> None:
    assert Spare() == judge(QUEUED, 2, None, BEGIN + timedelta(seconds=121))


@pytest.mark.parametrize(
    "command",
    [
        PublishMessage("7", "paid", "o-1", Profile.PRIOSTACK, {"a": Decimal("1.50")}),
        PublishMessage("7", "paid", None, Profile.ZENBPM),
        SeekMessage(7, "paid", "o-1", "order"),
        SeekMessage(7, "paid", "o-1", "order", "0001700000000000#m"),
        OfferMessage("7", "paid", "o-1", Profile.PRIOSTACK, BEGIN),
        SeekStart("paid", "o-1", "order", Profile.PRIOSTACK),
        SeekStart("paid", "o-1", "order", Profile.PRIOSTACK, "0001700000000000#m"),
        BroadcastSignal("7", "alarm", BEGIN, {"a": [None, True]}),
        BroadcastSignal("7", "alarm", BEGIN, {}, shard=0, after=8, until=9),
    ],
)
def test_what_is_thrown_comes_back_from_its_body_as_it_was(command: Owed) -> None:
    queued = replace(QUEUED, command=command)

    assert queued == commands.from_text(commands.to_text(queued))


def test_what_goes_along_is_bounded_by_what_a_message_can_carry() -> None:
    large = {"a": "x" * commands.PAYLOAD_BYTES_MAX}

    for command in (
        PublishMessage("7", "paid", None, Profile.ZENBPM, large),
        BroadcastSignal("7", "alarm", BEGIN, large),
    ):
        with pytest.raises(TooLarge, match="expected at most 200000 bytes to go along"):
            commands.check(command)
    commands.check(Continue())
