"""Secrets by reference, out of Parameter Store and Secrets Manager, kept for a minute.

What a function may read is decided by its role: whoever may define jobs may have them send any
secret that the role can read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.ports import Clock
from chalicelib.runners.references import SecretMissing

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_ssm import SSMClient

SSM, SECRETS_MANAGER = "ssm", "secretsmanager"
KEPT = timedelta(minutes=1)  # a rotated secret is used after that
KEPT_MAX = 100  # secrets; so many distinct ones in a minute are read again


@dataclass(frozen=True, slots=True)
class AwsSecrets:
    """Reads secrets with the function's own rights."""

    ssm: SSMClient
    secrets_manager: SecretsManagerClient
    clock: Clock
    _kept: dict[str, tuple[datetime, str]] = field(default_factory=dict, repr=False)

    def reveal(self, text: str) -> str:
        """Return the secret that a reference names; a text that is none is the secret itself.

        Shapes: a line break at the end of a stored secret, as files bring it, is not part of it.
        Raises: SecretMissing.
        """
        store, _, name = text.partition(":")
        if store not in (SSM, SECRETS_MANAGER) or not name:
            return text
        now = self.clock.now()
        read_at, value = self._kept.get(text, (None, ""))
        if read_at is not None and now - read_at < KEPT:
            return value
        value = self._read(store, name)
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[text] = (now, value)
        return value

    def _read(self, store: str, name: str) -> str:
        """Source: SSM API, GetParameter; Secrets Manager API, GetSecretValue."""
        try:
            if store == SSM:
                found = self.ssm.get_parameter(Name=name, WithDecryption=True)
                value = found["Parameter"].get("Value")
            else:
                value = self.secrets_manager.get_secret_value(SecretId=name).get("SecretString")
        except (ClientError, BotoCoreError) as error:
            raise SecretMissing(
                f"could not read the secret {store}:{name}: {kind_of(error)}"
            ) from error
        if value is None:
            raise SecretMissing(f"expected text in the secret {store}:{name}, found none")
        return value.rstrip("\r\n")


def kind_of(error: Exception) -> str:
    """Return AWS's name of the error; its message may tell of the account."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "unknown"))
    return type(error).__name__
