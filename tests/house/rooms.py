"""Who may import whom: the rooms of design section 2, as data.

A room is the longest entry of ROOMS that a module's name begins with. Beside its own modules a
room may import the rooms named here, the packages named here, and Python's own library unless
it is pure.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """What one room may know.

    Shapes: `rooms` and `packages` may be imported anywhere in it; `pure` rooms touch no clock,
        environment, randomness or files.
    """

    rooms: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    pure: bool = False


def _room(*rooms: str, packages: tuple[str, ...] = (), pure: bool = False) -> Room:
    return Room(frozenset(rooms), frozenset(packages), pure)


_CORE = (
    "access",
    "errors",
    "json_text",
    "profile",
    "feel",
    "dmn",
    "bpmn",
    "engine",
    "scheduler",
    "routing",
    "ports",
)
_SHELL = (*_CORE, "store", "delivery", "operations")
_OUTER = ("settings", "logs", "wiring")

ROOMS: dict[str, Room] = {
    "errors": _room(pure=True),
    "faults": _room("errors", packages=("botocore",)),
    "json_text": _room(packages=("simplejson",), pure=True),
    "profile": _room(pure=True),
    "access": _room(pure=True),
    "cron": _room(pure=True),
    "xml_tree": _room(packages=("lxml",), pure=True),
    "xml_reader": _room("xml_tree", packages=("lxml",), pure=True),
    # the pure core
    "feel": _room("json_text", packages=("tzdata",), pure=True),
    "dmn": _room("json_text", "feel", "xml_tree", "xml_reader", pure=True),
    "bpmn": _room(
        *("errors", "json_text", "profile", "cron", "feel", "xml_tree", "xml_reader"), pure=True
    ),
    "engine": _room("errors", "json_text", "profile", "feel", "dmn", "bpmn", pure=True),
    "scheduler": _room("errors", "json_text", "cron", pure=True),
    "routing": _room("json_text", "feel", pure=True),
    # the shell
    "ports": _room("access", "engine", "scheduler"),
    "operations": _room(*_CORE, "store", "delivery"),
    "store": _room(*_CORE, "faults", packages=("boto3", "botocore", "mypy_boto3_dynamodb")),
    "delivery": _room(
        *_CORE,
        "faults",
        "store",
        packages=("boto3", "botocore", "mypy_boto3_sqs", "mypy_boto3_scheduler"),
    ),
    "runners": _room(
        *_CORE,
        "logs",
        packages=(
            "botocore",
            "httpcore",
            "mypy_boto3_secretsmanager",
            "mypy_boto3_sesv2",
            "mypy_boto3_ssm",
        ),
    ),
    "api": _room(*_SHELL, *_OUTER, packages=("chalice",)),
    "triggers": _room(*_SHELL, *_OUTER),
    "settings": _room(*_CORE),
    "logs": _room("errors", "json_text", "ports", packages=("aws_lambda_powertools",)),
    "telemetry": _room(*_CORE, "logs", packages=("aws_lambda_powertools",)),
    "wiring": _room(
        *_CORE,
        "store",
        "delivery",
        "runners",
        "settings",
        "logs",
        "telemetry",
        packages=("boto3", "botocore"),
    ),
    "local": _room(
        *_SHELL,
        *_OUTER,
        "infra",
        "app",
        packages=("boto3", "botocore", "chalice", "hypercorn", "ministack", "samtranslator"),
    ),
    "cli": _room(*_SHELL, *_OUTER, "local", "infra", packages=("boto3", "botocore")),
    # the doors and the template
    "app": _room(*_CORE, "api", "triggers", *_OUTER, packages=("chalice",)),
    "infra": _room(
        *_CORE,
        "store",
        "delivery",
        "settings",
        packages=(
            "boto3",
            "botocore",
            "chalice",
            "mypy_boto3_cloudformation",
            "mypy_boto3_s3",
        ),
    ),
}

# Modules that may import a package which the rest of their room may not even name.
ONLY_IN: dict[str, frozenset[str]] = {
    "boto3": frozenset(
        {
            "chalicelib.wiring",
            "chalicelib.cli",
            "chalicelib.local",
            "infra",
        }
    ),
    "botocore": frozenset(
        {
            "chalicelib.wiring",
            "chalicelib.cli",
            "chalicelib.faults",
            "chalicelib.local",
            "chalicelib.store.dynamodb",
            "chalicelib.delivery.sqs",
            "chalicelib.delivery.scheduler",
            "chalicelib.runners.secrets",
            "chalicelib.runners.sinks",
            "infra",
        }
    ),
    "httpcore": frozenset({"chalicelib.runners.client", "chalicelib.runners.guard"}),
    "ministack": frozenset({"chalicelib.local"}),
    "hypercorn": frozenset({"chalicelib.local"}),
    "lxml": frozenset({"chalicelib.xml_reader", "chalicelib.xml_tree"}),
}

# Python's own modules that bring a clock, chance, the environment, files or other processes.
IMPURE = frozenset(
    {
        "asyncio",
        "concurrent",
        "http",
        "io",
        "logging",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "shutil",
        "socket",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    }
)

# Calls that read a clock, the environment, chance or files, by the end of their dotted name.
IMPURE_CALLS = frozenset(
    {
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "os.environ",
        "open",
        "print",
        "input",
    }
)


def room_of(name: str) -> str:
    """Return the room of a dotted module name, or the name's first part if it has none."""
    inner = name.removeprefix("chalicelib.")
    return inner.split(".")[0]


def is_standard(package: str) -> bool:
    """Say whether a top-level package is Python's own."""
    return package in sys.stdlib_module_names or package == "__future__"
