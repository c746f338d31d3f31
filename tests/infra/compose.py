"""Checks `localstack-compose.yml` without docker: `make compose-check`.

Names and forms are those of the Compose Specification, as far as the file uses them; beside them
it must be what the file itself promises: one service by default, ports on this machine alone,
images of fixed versions, volumes that are declared, health checks that can succeed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from infra.package import ROOT

FILE = ROOT / "localstack-compose.yml"
TOP = frozenset({"name", "services", "volumes", "networks", "configs", "secrets"})
SERVICE = frozenset(
    {
        *("image", "build", "command", "entrypoint", "environment", "env_file", "ports"),
        *("expose", "volumes", "healthcheck", "profiles", "depends_on", "restart", "networks"),
        *("container_name", "working_dir", "user", "labels", "init", "stop_grace_period"),
    }
)
HEALTH = frozenset(
    {"test", "interval", "timeout", "retries", "start_period", "start_interval", "disable"}
)
DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:us|ms|s|m|h))+")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/-]*:(?!latest$)[A-Za-z0-9_][A-Za-z0-9._-]*")
PORT = re.compile(r"127\.0\.0\.1:[0-9]{1,5}:[0-9]{1,5}(?:/(?:tcp|udp))?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PROFILE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]+")
# `$$` is a dollar; a variable may have a default, or say what is missing.
INTERPOLATED = re.compile(r"\$(?:\$|[A-Za-z_]\w*|\{[A-Za-z_]\w*(?::?[-?+][^{}]*)?\})")


def faults(text: str) -> list[str]:
    """Return what is wrong with a compose file, each with its place."""
    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return [f"expected YAML: {error}"]
    if not isinstance(read, dict) or not isinstance(read.get("services"), dict):
        return ["expected a mapping with services"]
    return list(_faults(read))


def _faults(read: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown("the file", read, TOP)
    volumes = read.get("volumes") or {}
    for name, service in read["services"].items():
        place = f"services.{name}"
        if not isinstance(service, dict):
            yield f"{place}: expected a mapping, found {service!r}"
            continue
        yield from _unknown(place, service, SERVICE)
        yield from _service(place, service, frozenset(volumes))
    started = [name for name, service in read["services"].items() if not service.get("profiles")]
    if len(started) != 1:
        yield f"services: expected one without a profile, which is the default, found {started}"
    yield from _interpolation("", read)


def _service(place: str, service: Mapping[str, Any], volumes: frozenset[str]) -> Iterator[str]:
    if not IMAGE.fullmatch(str(service.get("image", ""))):
        found = service.get("image")
        yield f"{place}.image: expected an image of a fixed version, found {found!r}"
    for port in service.get("ports", ()):
        if not PORT.fullmatch(str(port)):
            yield f"{place}.ports: expected 127.0.0.1:HOST:CONTAINER, found {port!r}"
    for variable, value in (service.get("environment") or {}).items():
        if not VARIABLE.fullmatch(variable) or not isinstance(value, str | int | float | None):
            yield f"{place}.environment: expected a name and a text, found {variable}: {value!r}"
    for profile in service.get("profiles", ()):
        if not PROFILE.fullmatch(str(profile)):
            yield f"{place}.profiles: expected a name, found {profile!r}"
    yield from _mounts(place, service, volumes)
    yield from _health(f"{place}.healthcheck", service.get("healthcheck"))


def _mounts(place: str, service: Mapping[str, Any], volumes: frozenset[str]) -> Iterator[str]:
    for volume in service.get("volumes", ()):
        source, separator, target = str(volume).partition(":")
        if not separator or not target.startswith("/"):
            yield f"{place}.volumes: expected SOURCE:/TARGET, found {volume!r}"
        elif not source.startswith(("/", ".", "~")) and source not in volumes:
            yield f"{place}.volumes: expected one of {sorted(volumes)} or a path, found {source!r}"


def _health(place: str, check: Any) -> Iterator[str]:
    if not isinstance(check, dict):
        yield f"{place}: expected a mapping, found {check!r}"
        return
    yield from _unknown(place, check, HEALTH)
    test = check.get("test")
    words = test if isinstance(test, list) else []
    is_command = len(words) > 1 and words[0] in ("CMD", "CMD-SHELL")
    if not is_command or not all(isinstance(word, str) for word in words):
        yield f"{place}.test: expected a list of words behind CMD or CMD-SHELL, found {test!r}"
    for name in ("interval", "timeout", "start_period", "start_interval"):
        if name in check and not DURATION.fullmatch(str(check[name])):
            yield f"{place}.{name}: expected a duration such as 5s, found {check[name]!r}"
    if not isinstance(check.get("retries", 1), int):
        yield f"{place}.retries: expected a whole number, found {check['retries']!r}"


def _interpolation(place: str, value: Any) -> Iterator[str]:
    """Yield where a dollar begins nothing that Compose can put in its place."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _interpolation(f"{place}.{name}".lstrip("."), each)
    elif isinstance(value, list):
        for each in value:
            yield from _interpolation(place, each)
    elif isinstance(value, str) and "$" in INTERPOLATED.sub("", value):
        yield f"{place}: expected ${{NAME}}, ${{NAME:-default}} or $$, found {value!r}"


def _unknown(place: str, found: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    for name in found:
        if name not in known and not str(name).startswith("x-"):
            yield f"{place}: {name!r} is nothing of the Compose Specification that is used here"


def main(path: Path = FILE) -> int:
    """Tell what is wrong with the file; 1 if anything is."""
    found = faults(path.read_text(encoding="utf-8"))
    for fault in found:
        sys.stderr.write(f"{path.name}: {fault}\n")
    if not found:
        sys.stdout.write(f"{path.name} is well\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
