"""A job's URL, taken apart without a change to its target.

Path and query go out as they were written; only what no request line can hold (spaces, what is
not ASCII) is percent-encoded, as Go's client does. The standard library's `urlsplit` is not asked,
for it drops tabs and line breaks in silence, which would make senseless URLs sensible.
Source: RFC 3986; contracts/scheduled-jobs.md Z63, Z72, Z73.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import urljoin

PORTS = {"http": 80, "https": 443}
PORT_MAX = 65_535
HOST_MAX = 253  # characters of a name in the DNS (RFC 1035)
POOL_INDEX = "pool_idx"

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(r"(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?")
_PORT = re.compile(r"[0-9]{1,5}")
_UNSENDABLE = re.compile(rb"[^\x21-\x7e]")


class Unparseable(ValueError):
    """This is no URL that a request can be sent to."""


@dataclass(frozen=True, slots=True)
class Url:
    """Where a request goes.

    Shapes: `host` is lower case, ASCII, an IPv6 address without its brackets; `target` is the path
        and query as they go out; `userinfo` is "user:password" as it was written.
    """

    scheme: str
    host: str
    port: int
    target: str
    userinfo: str = field(default="", repr=False)

    @property
    def authority(self) -> str:
        """Return host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def parse(text: str) -> Url:
    """Take a URL apart. Raises: Unparseable, without the text, which may hold a secret."""
    if _CONTROL.search(text):
        raise Unparseable("the URL has a control character")
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in PORTS:
        raise Unparseable("expected a URL that begins with http:// or https://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    target = rest[len(authority) :].partition("#")[0]
    if _BAD_ESCAPE.search(target.partition("?")[0]):
        raise Unparseable("the URL's path has a % without two hexadecimal digits")
    userinfo, _, place = authority.rpartition("@")
    host, port = _host_and_port(place)
    if not target.startswith("/"):
        target = f"/{target}"
    return Url(scheme, host, port or PORTS[scheme], _sendable(target), userinfo)


def with_pool_index(url: Url, index: int) -> Url:
    """Append the pool index to the query (Z71, Z73)."""
    separator = "" if url.target.endswith(("?", "&")) else "&" if "?" in url.target else "?"
    return replace(url, target=f"{url.target}{separator}{POOL_INDEX}={index}")


def resolved(base: Url, location: str) -> Url:
    """Return where a redirect leads. Raises: Unparseable."""
    try:
        joined = urljoin(f"{base.scheme}://{base.authority}{base.target}", location)
    except ValueError as error:  # brackets without an IPv6 address
        raise Unparseable("expected an IPv6 address in the brackets of the URL") from error
    return parse(joined)


def _host_and_port(place: str) -> tuple[str, int | None]:
    bracketed, bracket, rest = place.rpartition("]")
    if bracket:
        host, port = _ipv6(bracketed), rest
    else:
        name, colon, number = place.partition(":")
        host, port = _name(name), colon + number
    if not port.startswith(":") and port:
        raise Unparseable("expected a port after the URL's host")
    return host, _port(port[1:])


def _port(digits: str) -> int | None:
    if not digits:
        return None
    if not _PORT.fullmatch(digits) or not 0 < int(digits) <= PORT_MAX:
        raise Unparseable(f"expected a port from 1 to {PORT_MAX} in the URL")
    return int(digits)


def _ipv6(bracketed: str) -> str:
    try:
        if not bracketed.startswith("[") or "%" in bracketed:  # a zone is of this machine alone
            raise Unparseable("expected an IPv6 address in the brackets of the URL")
        return str(IPv6Address(bracketed[1:]))
    except AddressValueError as error:
        raise Unparseable("expected an IPv6 address in the brackets of the URL") from error


def _name(name: str) -> str:
    if not name:
        raise Unparseable("the URL has no host")
    if len(name) > HOST_MAX:
        raise Unparseable(f"expected a host of at most {HOST_MAX} characters in the URL")
    try:
        host = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise Unparseable("the URL's host is no name") from error
    if not _HOST.fullmatch(host):
        raise Unparseable("the URL's host is no name")
    return host.lower()


def _sendable(target: str) -> str:
    try:
        encoded = target.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, which JSON can write
        raise Unparseable("the URL has a character that is none") from error
    return _UNSENDABLE.sub(lambda found: b"%%%02X" % found[0][0], encoded).decode("ascii")
