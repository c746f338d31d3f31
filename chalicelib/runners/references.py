"""Secrets by reference, as those who need them see them."""

from __future__ import annotations

from typing import Protocol


class SecretMissing(Exception):
    """A secret cannot be read; the words name its reference and never the secret."""


class Secrets(Protocol):
    """Secrets by reference: `ssm:NAME` or `secretsmanager:NAME`."""

    def reveal(self, text: str) -> str:
        """Return the secret that a reference names; a text that is none is the secret itself.

        Raises: SecretMissing.
        """
