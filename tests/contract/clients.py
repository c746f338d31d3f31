"""Clients of the emulated AWS, for who tests an implementation of a port on it."""

from __future__ import annotations

from typing import Any

import boto3


def client_of(endpoint: str, service: Any) -> Any:
    """Return the client of one service."""
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
