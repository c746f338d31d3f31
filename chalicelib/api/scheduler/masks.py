"""Secrets are never shown again: a mask stands for one, and says "as it is" when it is sent back.

References to secrets, `ssm:NAME` and `secretsmanager:NAME`, are none themselves and are shown.
"""

from __future__ import annotations

from dataclasses import replace

from chalicelib.errors import Reason, Rejected
from chalicelib.scheduler.definition import Auth, is_reference

MASK = "********"
SECRETS = ("password", "token", "value")


def masked(auth: Auth) -> Auth:
    """Return it as it may be shown."""
    return replace(auth, **{name: _masked(getattr(auth, name)) for name in SECRETS})


def unmasked(auth: Auth, stored: Auth) -> Auth:
    """Return it with the stored secrets where it has the mask.

    Raises: Rejected(INVALID_ARGUMENT) for the mask of a secret that is not stored.
    """
    kept = [name for name in SECRETS if getattr(auth, name) == MASK]
    for name in kept:
        if not getattr(stored, name):
            message = "expected a secret, found the mask of one, and none is stored"
            raise Rejected(Reason.INVALID_ARGUMENT, message, {"field": f"auth.{name}"})
    return replace(auth, **{name: getattr(stored, name) for name in kept})


def _masked(secret: str) -> str:
    return MASK if secret and not is_reference(secret) else secret
