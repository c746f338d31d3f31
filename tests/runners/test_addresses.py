"""Which addresses jobs may not reach, and that no way round the guard leads there."""

from __future__ import annotations

import ipaddress
import random

import pytest

from chalicelib.runners import addresses


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0.0.0.0", "unspecified"),
        ("10.1.2.3", "private"),
        ("100.64.0.1", "shared by a carrier"),
        ("127.0.0.1", "loopback"),
        ("127.8.9.10", "loopback"),
        ("169.254.169.254", "link-local"),
        ("169.254.170.2", "link-local"),
        ("172.31.255.255", "private"),
        ("192.168.0.1", "private"),
        ("198.19.0.1", "reserved"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::7f00:1", "reserved"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::ffff:0:127.0.0.1", "reserved"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::a00:1", "reserved"),
        ("2001:0:5ef5:79fd::1", "reserved"),
        ("2002:7f00:1::1", "loopback"),
        ("2002:a9fe:a9fe::", "link-local"),
        ("2001:db8::1", "reserved"),
        ("fd00:ec2::254", "private"),
        ("fe80::1%eth0", "link-local"),
        ("fec0::1", "private"),
        ("ff02::1", "multicast"),
        ("4000::1", "reserved"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str, kind: str) -> None:
    assert kind == addresses.why_refused(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "100.128.0.1",
        "169.253.255.255",
        "172.32.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2600:1f18::1",
        "2a00:1450:4001::200e",
    ],
)
def test_a_public_address_is_not(address: str) -> None:
    assert "" == addresses.why_refused(address)


def test_whatever_the_standard_library_knows_as_special_is_refused() -> None:
    chance = random.Random(1)
    for _ in range(4_000):
        four = ipaddress.IPv4Address(chance.getrandbits(32))
        six = ipaddress.IPv6Address(
            chance.choice([0, 0x2001 << 112, 0xFC << 120, 0xFE << 120]) | chance.getrandbits(119)
        )
        for address in (four, six):
            is_special = (
                not address.is_global or address.is_multicast or address.is_reserved
            ) and not getattr(address, "ipv4_mapped", None)
            if is_special:
                assert addresses.why_refused(str(address)), address
