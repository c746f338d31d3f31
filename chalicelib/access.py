"""Who may call: how a stage knows its callers, what the holder of a key may do, whose pages may."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

ANY_ORIGIN = "*"


class Access(StrEnum):
    """Who may call over HTTP."""

    OPEN = "open"  # whoever reaches the address
    KEYS = "keys"  # who has an API key
    IAM = "iam"  # whose signature the gateway has verified


class Role(StrEnum):
    """What who has a key may do; which operations that are, the authorizer knows."""

    WORKER = "worker"  # take jobs and end them
    STARTER = "starter"  # start instances and publish messages
    OPERATOR = "operator"  # everything


def shared_with(origins: Collection[str], origin: str | None) -> dict[str, str]:
    """Return the headers by which a browser lets pages of an origin read an answer, or not.

    Only origins that are named may send what a browser keeps for an address; it refuses that itself
    where any may ask. Source: Fetch Standard, "CORS protocol".
    """
    if ANY_ORIGIN in origins:
        return {"Access-Control-Allow-Origin": ANY_ORIGIN}
    varies = {"Vary": "Origin"}  # a cache is not to give the answer for one page to another
    if origin not in origins:
        return varies
    return {
        "Access-Control-Allow-Origin": str(origin),
        "Access-Control-Allow-Credentials": "true",
        **varies,
    }
