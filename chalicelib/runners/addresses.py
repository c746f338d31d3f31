"""The addresses that jobs may not reach unless an operator allows it: the ranges, as data.

What is not on this list is the public internet. An IPv6 address that carries an IPv4 one (mapped,
NAT64, 6to4) is judged by what it carries, and of all others only global unicast is public.
Source: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), RFC 4291, 6052, 3056.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

V4 = {
    IPv4Network("0.0.0.0/8"): "unspecified",
    IPv4Network("10.0.0.0/8"): "private",
    IPv4Network("100.64.0.0/10"): "shared by a carrier",
    IPv4Network("127.0.0.0/8"): "loopback",
    IPv4Network("169.254.0.0/16"): "link-local",
    IPv4Network("172.16.0.0/12"): "private",
    IPv4Network("192.0.0.0/24"): "reserved",
    IPv4Network("192.0.2.0/24"): "reserved",
    IPv4Network("192.88.99.0/24"): "reserved",
    IPv4Network("192.168.0.0/16"): "private",
    IPv4Network("198.18.0.0/15"): "reserved",
    IPv4Network("198.51.100.0/24"): "reserved",
    IPv4Network("203.0.113.0/24"): "reserved",
    IPv4Network("224.0.0.0/4"): "multicast",
    IPv4Network("240.0.0.0/4"): "reserved",
}
V6 = {
    IPv6Network("::/128"): "unspecified",
    IPv6Network("::1/128"): "loopback",
    IPv6Network("fc00::/7"): "private",
    IPv6Network("fe80::/10"): "link-local",
    IPv6Network("fec0::/10"): "private",
    IPv6Network("ff00::/8"): "multicast",
    IPv6Network("2001::/23"): "reserved",  # Teredo among them
    IPv6Network("2001:db8::/32"): "reserved",
    IPv6Network("3fff::/20"): "reserved",
}
GLOBAL_UNICAST = IPv6Network("2000::/3")
MAPPED = IPv6Network("::ffff:0:0/96")
NAT64 = IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = IPv6Network("2002::/16")


def why_refused(text: str) -> str:
    """Return what kind of address this is that jobs may not reach, "" if they may.

    Shapes: a numeric address, of IPv6 with or without a zone (`fe80::1%eth0`).
    """
    address = ip_address(text.partition("%")[0])
    address = _carried(address) or address
    networks = V4 if isinstance(address, IPv4Address) else V6
    for network, kind in networks.items():
        if address in network:
            return kind
    is_public = isinstance(address, IPv4Address) or address in GLOBAL_UNICAST
    return "" if is_public else "reserved"


def refuse_nothing(text: str) -> str:
    """Let jobs reach every address: what an operator may choose instead."""
    return ""


def _carried(address: Address) -> IPv4Address | None:
    """Return the IPv4 address inside an IPv6 one, None if there is none."""
    if isinstance(address, IPv4Address):
        return None
    if address in MAPPED or address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    if address in SIX_TO_FOUR:
        return IPv4Address(int(address) >> 80 & 0xFFFF_FFFF)
    return None
