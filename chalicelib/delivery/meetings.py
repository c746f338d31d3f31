"""What is queued so that messages and signals meet who waits, as members of a command's body."""

from __future__ import annotations

from typing import assert_never

from chalicelib.delivery import bodies
from chalicelib.engine.commands import (
    BroadcastSignal,
    OfferMessage,
    PublishMessage,
    SeekMessage,
    SeekStart,
)
from chalicelib.json_text import JsonObject
from chalicelib.store.moments import to_ms

PUBLISH, OFFER, SEEK = "publish", "offer", "seek"
SEEK_START, BROADCAST = "seek start", "broadcast"
WORDS = frozenset((PUBLISH, OFFER, SEEK, SEEK_START, BROADCAST))

Meeting = PublishMessage | OfferMessage | SeekMessage | SeekStart | BroadcastSignal


def written(command: Meeting) -> JsonObject:
    """Write a command, with the word for it."""
    match command:
        case PublishMessage(id_, name, key, profile, variables):
            told: JsonObject = {"do": PUBLISH, "id": id_, "name": name, "key": key}
            return {**told, "profile": profile.value, "variables": variables}
        case OfferMessage(id_, name, key, profile, at):
            told = {"do": OFFER, "id": id_, "name": name, "key": key}
            return {**told, "profile": profile.value, "at": to_ms(at)}
        case SeekMessage(subscription, name, key, process_id, place):
            told = {"do": SEEK, "subscription": subscription, "name": name, "key": key}
            return {**told, "process": process_id, **_behind(place)}
        case SeekStart(name, key, process_id, profile, place):
            told = {"do": SEEK_START, "name": name, "key": key, "process": process_id}
            return {**told, "profile": profile.value, **_behind(place)}
        case BroadcastSignal(id_, name, at, variables, shard, after, until):
            told = {"do": BROADCAST, "id": id_, "name": name, "variables": variables}
            return {**told, "at": to_ms(at), "shard": shard, "after": after, "until": until}
        case _ as never:
            assert_never(never)


def read(word: str, body: JsonObject) -> Meeting:
    """Read the command of a word. Raises: Rejected(INVALID_ARGUMENT)."""
    name = bodies.text(body, "name")
    match word:
        case "publish":
            return PublishMessage(
                id=bodies.text(body, "id"),
                name=name,
                correlation_key=None if body.get("key") is None else bodies.text(body, "key"),
                profile=bodies.profile(body),
                variables=bodies.members(body, "variables"),
            )
        case "offer":
            return OfferMessage(
                id=bodies.text(body, "id"),
                name=name,
                correlation_key=bodies.text(body, "key"),
                profile=bodies.profile(body),
                published_at=bodies.moment(body, "at"),
            )
        case "seek":
            return SeekMessage(
                subscription_key=bodies.integer(body, "subscription"),
                name=name,
                correlation_key=bodies.text(body, "key"),
                bpmn_process_id=bodies.text(body, "process"),
                after=_place(body),
            )
        case "seek start":
            return SeekStart(
                name=name,
                correlation_key=bodies.text(body, "key"),
                bpmn_process_id=bodies.text(body, "process"),
                profile=bodies.profile(body),
                after=_place(body),
            )
        case _:
            return BroadcastSignal(
                id=bodies.text(body, "id"),
                name=name,
                at=bodies.moment(body, "at"),
                variables=bodies.members(body, "variables"),
                shard=None if body.get("shard") is None else bodies.integer(body, "shard"),
                after=bodies.integer(body, "after"),
                until=bodies.integer(body, "until"),
            )


def _behind(place: str) -> JsonObject:
    """Return where a look goes on; nothing of one that begins, as most do."""
    return {"after": place} if place else {}


def _place(body: JsonObject) -> str:
    return bodies.text(body, "after") if "after" in body else ""
