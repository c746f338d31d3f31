"""API keys are made, listed and revoked, and never kept."""

from __future__ import annotations

import json

import pytest

from chalicelib.access import Role
from chalicelib.errors import Rejected
from chalicelib.operations import api_keys, holds
from chalicelib.ports import Ports
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all


@pytest.fixture
def ports() -> Ports:
    return Stage().ports


def test_a_key_is_told_once_and_only_its_hash_is_kept(ports: Ports) -> None:
    key = api_keys.create_key(ports, "charge", Role.WORKER)

    (kept,) = api_keys.list_keys(ports)
    secret = key.rpartition("_")[2]
    assert ("charge", Role.WORKER, 64) == (kept.name, kept.role, len(secret))
    page = ports.table.scan(0, 1)
    assert secret not in json.dumps(list(page.items), default=str)


def test_a_key_is_its_holders(ports: Ports) -> None:
    keys = {role: api_keys.create_key(ports, role.value, role) for role in Role}

    found = [api_keys.holder(ports, key) for key in keys.values()]

    assert list(keys) == [each.role for each in found if each]
    assert api_keys.holder(ports, "hr_") is None
    assert api_keys.holder(ports, keys[Role.WORKER] + "\n") is None


def test_a_name_is_given_once(ports: Ports) -> None:
    api_keys.create_key(ports, "a", Role.WORKER)

    with pytest.raises(Rejected, match="a already"):
        api_keys.create_key(ports, "a", Role.OPERATOR)


@pytest.mark.parametrize("name", ["", "-a", "a b", "a\n", "x" * 65])
def test_a_name_is_short_and_plain(ports: Ports, name: str) -> None:
    with pytest.raises(Rejected, match="expected a name"):
        api_keys.create_key(ports, name, Role.WORKER)


def test_a_sweep_passes_keys_by(ports: Ports) -> None:
    api_keys.create_key(ports, "a", Role.WORKER)

    assert 0 == sweep_all(ports).mended
    assert 0 == holds.release_holds(ports)


@pytest.mark.parametrize("by", ["name", "id"])
def test_a_key_is_revoked_by_its_name_or_id(ports: Ports, by: str) -> None:
    api_keys.create_key(ports, "a", Role.WORKER)
    key = api_keys.create_key(ports, "b", Role.WORKER)
    named = {each.name: each for each in api_keys.list_keys(ports)}["b"]

    api_keys.revoke_key(ports, getattr(named, by))

    assert ["a"] == [each.name for each in api_keys.list_keys(ports)]
    assert api_keys.holder(ports, key) is None
    with pytest.raises(Rejected, match="expected the name or id"):
        api_keys.revoke_key(ports, "b")
