"""What the runner adds to a job's URL: the pool index, and where a redirect leads.

How a URL is taken apart is the scheduler's (`scheduler/urls.py`), so that a definition is warned of
just what the runner will cancel. Source: contracts/scheduled-jobs.md Z71, Z73.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from chalicelib.scheduler.urls import PORTS, Unparseable, Url, parse

__all__ = ["PORTS", "Unparseable", "Url", "parse", "resolved", "with_pool_index"]

POOL_INDEX = "pool_idx"


def with_pool_index(url: Url, index: int) -> Url:
    """Append the pool index to the query (Z71, Z73)."""
    separator = "" if url.target.endswith(("?", "&")) else "&" if "?" in url.target else "?"
    return replace(url, target=f"{url.target}{separator}{POOL_INDEX}={index}")


def resolved(base: Url, location: str) -> Url:
    """Return where a redirect leads; one that names no host keeps the user too, as Go's does.

    Raises: Unparseable.
    """
    if any(character < " " or character == "\x7f" for character in location):
        raise Unparseable("the URL has a control character")  # some of which `urljoin` would drop
    try:
        joined = urljoin(f"{base.scheme}://{base.authority}{base.target}", location)
        names_host = bool(urlsplit(location).netloc)
    except ValueError as error:  # brackets without an IPv6 address
        raise Unparseable("expected an IPv6 address in the brackets of the URL") from error
    url = parse(joined)
    return url if names_host else replace(url, userinfo=base.userinfo)
