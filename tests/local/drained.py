"""An HTTP endpoint that is drained page by page, one pile for each pool index."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Drained(ThreadingHTTPServer):
    """Gives one page of a pile for each call, and says how many remain.

    Shapes: while `gate` is not set, calls wait for it; `called` says that one came; `refusals` is
        how many calls of each index are refused before the first page.
    """

    daemon_threads = True

    def __init__(self, pages: int, refusals: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages = pages
        self.refusals = refusals
        self.calls: Counter[str] = Counter()
        self.taken: list[tuple[str, int]] = []
        self.called = threading.Event()
        self.gate = threading.Event()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/pages"

    def take(self, index: str) -> tuple[HTTPStatus, int]:
        """Take a page; return the status and what remains."""
        self.called.set()
        self.gate.wait()
        with self._lock:
            self.calls[index] += 1
            page = self.calls[index] - self.refusals
            if page <= 0:
                return HTTPStatus.SERVICE_UNAVAILABLE, self.pages
            self.taken.append((index, page))
            return HTTPStatus.OK, self.pages - page


class _Handler(BaseHTTPRequestHandler):
    server: Drained

    def do_POST(self) -> None:
        (index,) = parse_qs(urlsplit(self.path).query).get("pool_idx", ["none"])
        status, remaining = self.server.take(index)
        content = json.dumps({"result": {"remaining": remaining}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def draining(pages: int, refusals: int = 0) -> Iterator[Drained]:
    """Serve an endpoint until the block is left."""
    server = Drained(pages, refusals)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.gate.set()
        server.shutdown()
        server.server_close()
