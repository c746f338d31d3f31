"""Who may call: how a stage knows its callers, and what the holder of a key may do."""

from __future__ import annotations

from enum import StrEnum


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
