"""Whether a URL can be called at all (Z63): the definition warns by it, the runner cancels by it.

Only what no server and no network could mend is refused; a name that does not resolve, say, is a
failed attempt.

Source: RFC 3986; contracts/scheduled-jobs.md, Z63.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address

SCHEMES = ("http", "https")
PORT_MAX = 65_535

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://"
    r"(?:[^/?#\[\]@]*@)?"
    r"(?P<host>\[[^\]/?#]*\]|[^/?#\[\]@:]*)"
    r"(?::(?P<port>[0-9]{0,5}))?"
    r"(?:[/?#].*)?",
    re.DOTALL,
)
_NEVER = re.compile(r"[\x00-\x20\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def flaw(url: str) -> str | None:
    """Say why a URL can never be called, or None."""
    if not url:
        return "it is missing"
    if _NEVER.search(url):
        return "it has a space or a control character"
    found = _URL.fullmatch(url)
    if found is None:
        return "it is no absolute URL with a host"
    if _BAD_ESCAPE.search(re.split("[?#]", url, maxsplit=1)[0]):
        return "a % is not followed by two hexadecimal digits"
    return _flaw_of_parts(found["scheme"], found["host"], found["port"])


def _flaw_of_parts(scheme: str, host: str, port: str | None) -> str | None:
    if scheme.lower() not in SCHEMES:
        return f"its scheme is {scheme}, not http or https"
    if not _is_host(host):
        return "its host is missing or malformed"
    if port and not 0 < int(port) <= PORT_MAX:
        return f"its port is not between 1 and {PORT_MAX}"
    return None


def _is_host(host: str) -> bool:
    if not host.startswith("["):
        return bool(host)
    try:
        IPv6Address(host[1:-1])
    except ValueError:
        return False
    return True
