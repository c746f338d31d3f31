"""Spans as subsegments of the trace that Lambda has begun, to the X-Ray daemon beside it.

The daemon takes one JSON document in one UDP datagram and sends it on by itself; that is all of the
protocol, and nothing waits for it. Docs: adr/0014.
Source: AWS X-Ray Developer Guide, "Sending segment documents to the X-Ray daemon" and "X-Ray
segment documents"; AWS Lambda Developer Guide, "Visualize Lambda function invocations".
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from chalicelib import logs
from chalicelib.ports import Settings
from chalicelib.telemetry.spans import Span

TRACE = "_X_AMZN_TRACE_ID"  # Lambda sets it for each invocation
DAEMON = "AWS_XRAY_DAEMON_ADDRESS"
PREAMBLE = b'{"format": "json", "version": 1}\n'
NAME_MAX = 200
_UNNAMED = re.compile(r"[^\w\s.:/%&#=+\\\-@]")  # what the name of a subsegment may not have


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of this invocation, and the segment of it that spans are part of."""

    id: str
    parent: str


@dataclass(slots=True)
class XRay:
    """Sends spans of those traces that are sampled.

    Shapes: `new_id` gives 16 hexadecimal digits; `send` takes one datagram.
    """

    settings: Settings
    new_id: Callable[[], str]
    send: Callable[[bytes], None]
    _trace: Trace | None = None
    _sent: int = 0

    def __call__(self, span: Span) -> None:
        """Send a span that has just ended."""
        trace = trace_of(os.environ.get(TRACE, ""), self.settings.tracing_share)
        if trace is None:
            return
        if trace != self._trace:
            self._trace, self._sent = trace, 0
        if self._sent < span.place_max:
            self._sent += 1
            self.send(document(span, trace, self.new_id(), self.settings.tracing_name))


def trace_of(header: str, share: Decimal) -> Trace | None:
    """Return the trace that a tracing header names, None if it is not to be shown.

    Shapes: the same trace is shown by all functions or by none.
    """
    parts = dict(part.split("=", 1) for part in header.split(";") if "=" in part)
    root, parent = parts.get("Root", ""), parts.get("Parent", "")
    if parts.get("Sampled") != "1" or not re.fullmatch(r"1-[0-9a-f]{8}-[0-9a-f]{24}", root):
        return None
    return Trace(root, parent) if int(root[-8:], 16) < share * 2**32 else None


def document(span: Span, trace: Trace, id_: str, service: str) -> bytes:
    """Return a span as a datagram.

    Shapes: annotations, by which traces are searched, may have no dots in their names, so
        attributes are there with underscores, and in the metadata as they are.
    """
    now = time.time()
    made = {
        "type": "subsegment",
        "id": id_,
        "trace_id": trace.id,
        "parent_id": trace.parent,
        "name": _UNNAMED.sub("-", span.name)[:NAME_MAX],
        "start_time": logs.began() or now,
        "end_time": now,
        "annotations": {
            "service": service,
            **{name.replace(".", "_"): value for name, value in span.attributes.items()},
        },
        "metadata": {"headrace": dict(span.attributes)},
    }
    return PREAMBLE + json.dumps(made).encode()


def to_daemon(address: str) -> Callable[[bytes], None]:
    """Return what sends datagrams to a daemon such as `169.254.79.129:2000`."""
    host, _, port = address.rpartition(":")

    def send(datagram: bytes) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
            daemon.setblocking(False)
            daemon.sendto(datagram, (host, int(port)))

    return send
