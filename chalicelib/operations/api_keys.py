"""API keys: made, listed and revoked by an operator, and who it is that shows one."""

from __future__ import annotations

import hmac
import re
from datetime import datetime, timedelta
from hashlib import sha256

from chalicelib.access import Role
from chalicelib.errors import Reason, Rejected
from chalicelib.ports import Ports
from chalicelib.store import api_keys
from chalicelib.store.api_keys import ApiKey
from chalicelib.store.caches import Kept

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
PREFIX = "hr"  # so that a key is known for one, wherever it turns up
ID_LENGTH = 16  # of 32 random hexadecimal characters: nobody has to be kept from guessing an id
_SHAPE = re.compile(rf"{PREFIX}_([0-9a-f]{{{ID_LENGTH}}})_([0-9a-f]{{64}})")
REMEMBERED = timedelta(seconds=60)  # how long a container still knows a key that was revoked
REMEMBERED_MAX = 1_000  # keys that a container knows at a time

_known: Kept[tuple[ApiKey, datetime]] = Kept(REMEMBERED_MAX)


def create_key(ports: Ports, name: str, role: Role) -> str:
    """Make a key and return it: it is told this once. Raises: Rejected."""
    if not NAME.fullmatch(name):
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            "expected a name of 1 to 64 letters, digits and . _ @ - that begins with a letter or "
            f"digit, found {name[:80]!r}",
        )
    if any(name == key.name for key in api_keys.read_all(ports.table)):
        raise Rejected(
            Reason.INVALID_STATE, f"there is a key named {name} already: revoke it first"
        )
    id_, secret = ports.chance.id()[:ID_LENGTH], ports.chance.id() + ports.chance.id()
    key = ApiKey(id_, name, role, _digest(secret), ports.clock.now())
    if not api_keys.add(ports.table, key):
        raise Rejected(Reason.INVALID_STATE, f"the id {id_} is taken: try again")
    return f"{PREFIX}_{id_}_{secret}"


def list_keys(ports: Ports) -> list[ApiKey]:
    """Return all keys, the oldest first."""
    return api_keys.read_all(ports.table)


def revoke_key(ports: Ports, name_or_id: str) -> ApiKey:
    """Forget a key and return what it was. Raises: Rejected(NOT_FOUND).

    Who shows it is refused at once by whoever reads it anew, and everywhere after REMEMBERED.
    """
    found = [key for key in list_keys(ports) if name_or_id in (key.name, key.id)]
    if not found:
        raise Rejected(Reason.NOT_FOUND, f"expected the name or id of a key, found {name_or_id!r}")
    for key in found:
        api_keys.remove(ports.table, key.id)
    return found[0]


def holder(ports: Ports, shown: str) -> ApiKey | None:
    """Return the key that somebody shows, None if there is none like it."""
    match = _SHAPE.fullmatch(shown)
    if match is None:
        return None
    id_, secret = match.groups()
    key = _read(ports, id_)
    is_known = hmac.compare_digest(_digest(secret), key.digest if key else _digest(""))
    return key if is_known else None


def is_same(shown: str, expected: str) -> bool:
    """Compare two keys in a time that tells nothing of either, not even its length."""
    return hmac.compare_digest(_digest(shown), _digest(expected))


def _read(ports: Ports, id_: str) -> ApiKey | None:
    now = ports.clock.now()
    known = _known.get(ports.table, id_)
    if known is not None and now - known[1] < REMEMBERED:
        return known[0]
    key = api_keys.read(ports.table, id_)
    if key is not None:  # what is not there may be made in a moment
        _known.keep(ports.table, id_, (key, now))
    return key


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
