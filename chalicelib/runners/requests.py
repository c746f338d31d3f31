"""The request of an HTTP call: its headers, and what a redirect makes of it.

Source: Go's net/http Client, whose conduct the contract asks for (Z62); the Fetch standard,
"HTTP-redirect fetch", for the headers that go with a body.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from chalicelib.runners import urls
from chalicelib.runners.urls import Url

USER_AGENT = "Headrace"
REDIRECTS_MAX = 10  # Z62
AS_GET = (301, 302, 303)
AS_IS = (307, 308)
# Headers that are ours to say, as they are Go's.
OURS = frozenset({"connection", "content-length", "transfer-encoding", "trailer"})
OF_A_BODY = frozenset({"content-encoding", "content-language", "content-location", "content-type"})
# Headers that go to no host but the first and its subdomains.
PRIVATE = frozenset(
    {
        "authorization",
        "cookie",
        "cookie2",
        "proxy-authenticate",
        "proxy-authorization",
        "www-authenticate",
    }
)

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

Headers = tuple[tuple[str, str], ...]


class Unsendable(ValueError):
    """No server could be sent this: a method or a header that HTTP does not allow."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to be sent.

    Shapes: `private` names, in lower case, further headers that stay with the first host;
        `secrets` are texts in its headers that nobody is to be shown.
    """

    method: str
    url: Url
    headers: Headers = field(default=(), repr=False)
    body: bytes | None = None
    private: frozenset[str] = frozenset()
    secrets: tuple[str, ...] = field(default=(), repr=False)


def check(request: Request) -> None:
    """Raise Unsendable if the method or a header cannot be written; it names no value."""
    if not _TOKEN.fullmatch(request.method):
        raise Unsendable(f"expected an HTTP method, found {request.method[:50]!r}")
    for name, value in request.headers:
        if not _TOKEN.fullmatch(name):
            raise Unsendable(f"expected the name of a header, found {name[:50]!r}")
        if _NO_VALUE.search(value) or not _is_text(value):
            raise Unsendable(f"the header {name[:50]} has a value with a control character")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def without(headers: Headers, names: Iterable[str]) -> Headers:
    """Return the headers but those of these names, given in lower case."""
    dropped = frozenset(names)
    return tuple((name, value) for name, value in headers if name.lower() not in dropped)


def basic(username: str, password: str) -> str:
    """Return the value of an Authorization header (RFC 7617, in UTF-8)."""
    return f"Basic {b64encode(f'{username}:{password}'.encode()).decode('ascii')}"


def wire_headers(request: Request) -> list[tuple[bytes, bytes]]:
    """Return all headers as they are sent: the host first, then the job's in their order."""
    given = {name.lower() for name, _ in request.headers}
    headers: list[tuple[str, str]] = []
    if "host" not in given:
        headers.append(("Host", request.url.authority))
    if "user-agent" not in given:
        headers.append(("User-Agent", USER_AGENT))
    headers += without(request.headers, OURS)
    if request.url.userinfo and "authorization" not in given:
        username, _, password = request.url.userinfo.partition(":")
        headers.append(("Authorization", basic(unquote(username), unquote(password))))
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        headers.append(("Content-Length", str(len(request.body or b""))))
    headers.append(("Connection", "close"))
    return [(name.encode("ascii"), value.strip(" \t").encode()) for name, value in headers]


def redirected(request: Request, status: int, location: str, first_host: str) -> Request:
    """Return the request that follows a redirect; what was dropped on the way stays dropped.

    Shapes: 301, 302 and 303 become a GET without a body, unless it was a HEAD; 307 and 308 keep
        method and body. Stricter than Go: a job's own auth header, whatever its name, is
        private, and none goes from https to http.
    Raises: Unparseable if the location is.
    """
    url = urls.resolved(request.url, location)
    following = replace(request, url=url)
    if status in AS_GET:
        following = replace(
            following,
            method=request.method if request.method in ("GET", "HEAD") else "GET",
            body=None,
            headers=without(following.headers, OF_A_BODY),
        )
    if _leaves(first_host, url.host) or (request.url.scheme, url.scheme) == ("https", "http"):
        kept = without(following.headers, PRIVATE | request.private)
        following = replace(following, headers=kept)
    if url.authority != request.url.authority:
        following = replace(following, headers=without(following.headers, {"host"}))
    return following


def is_redirect(status: int, location: str | None) -> bool:
    """Whether an answer leads elsewhere; one without a location is an answer as any other."""
    return bool(location) and status in (*AS_GET, *AS_IS)


def _leaves(first_host: str, host: str) -> bool:
    is_address = ":" in first_host or first_host.replace(".", "").isdigit()
    return host != first_host and (is_address or not host.endswith(f".{first_host}"))
