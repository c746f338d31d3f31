"""What AWS says of a call that failed: whether it may be repeated, and may have been done.

Source: AWS's SDKs, "Retry behavior", and the list of common errors of each service.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
)

from chalicelib.errors import Busy

# A service that is asked too much has done nothing.
THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "KmsThrottled",
        "LimitExceededException",
        "OverLimit",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
SERVER_FAULT = 500  # from this status on

_UNREACHED = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)


def code_of(error: ClientError) -> str:
    """Return the code of a fault, such as `ConflictException`; empty if it has none."""
    return str(error.response.get("Error", {}).get("Code", ""))


def is_throttled(error: ClientError) -> bool:
    """Say whether a service refused a call because it is asked too much."""
    return code_of(error).removeprefix("AWS.SimpleQueueService.") in THROTTLED


def is_theirs(error: ClientError) -> bool:
    """Say whether a service failed by itself: then what it was asked for may be done or not."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= SERVER_FAULT


def is_unreached(error: Exception) -> bool:
    """Say whether a service cannot know of a call, since no connection came about."""
    return isinstance(error, _UNREACHED)


def busy(service: str, error: Exception) -> Busy:
    """Return what a caller is told of a service that did not do a call."""
    if isinstance(error, ClientError):
        return Busy(f"{service} is asked too much or fails ({code_of(error)}): repeat the request")
    return Busy(f"{service} does not answer ({type(error).__name__}): repeat the request")


@contextmanager
def calling(service: str) -> Iterator[None]:
    """Call a service by which nothing is done yet: what is promised, asked for or tidied up.

    A promise that was sent all the same finds nothing, so every call that may be repeated is over
    as if it had not been made. Raises: Busy.
    """
    try:
        yield
    except (ConnectionError, HTTPClientError) as error:
        raise busy(service, error) from error
    except ClientError as error:
        if is_throttled(error) or is_theirs(error):
            raise busy(service, error) from error
        raise
