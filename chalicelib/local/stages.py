"""The subcommands of a stage on AWS: deploy, destroy, doctor, redrive; options and calls."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infra import names

if TYPE_CHECKING:
    from chalicelib.local.deploying import Account


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what brings a stage, takes it away, and looks at it."""
    deploy = commands.add_parser("deploy", help="bring a stage to AWS, or bring it up to date")
    deploy.add_argument("--yes", action="store_true", help="carry the plan out without asking")
    access = deploy.add_mutually_exclusive_group()
    access.add_argument("--open", action="store_true", help="let anybody call, without a key")
    access.add_argument("--iam", action="store_true", help="callers sign; no API keys")
    deploy.add_argument(
        "--pollers-max",
        type=_count,
        metavar="N",
        help="requests for jobs that are served at a time (100); 0: no cap",
    )
    deploy.add_argument(
        "--front-door",
        choices=("rest-api", "http-api"),
        help="of API Gateway; what the stage has, and rest-api at first",
    )
    deploy.set_defaults(command=_deploy)
    destroy = commands.add_parser("destroy", help="take a stage away, all but its tables")
    destroy.add_argument("--data", action="store_true", help="and its tables")
    destroy.set_defaults(command=_destroy)
    doctor = commands.add_parser("doctor", help="say what of a stage is not as it should be")
    doctor.set_defaults(command=_doctor)
    redrive = commands.add_parser("redrive", help="put back the messages that are parked")
    redrive.add_argument(
        "--queue",
        action="append",
        choices=[queue.removeprefix(names.QUEUE_PREFIX) for queue in names.QUEUES.values()],
        help="of this queue only; may be repeated",
    )
    redrive.set_defaults(command=_redrive)
    for command in (deploy, destroy, doctor, redrive):
        command.add_argument("--stage", required=True, metavar="NAME")
        command.add_argument("--profile", metavar="P", help="of the AWS configuration")
        command.add_argument("--region", metavar="R")
        command.add_argument("--endpoint-url", metavar="URL", help="of an emulated AWS")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number from 0, found {text!r}")
    return int(text)


def _deploy(options: argparse.Namespace) -> int:
    from chalicelib.access import Access  # noqa: PLC0415
    from chalicelib.local import deploying  # noqa: PLC0415
    from infra.deploy import POLLERS_MAX, Choices  # noqa: PLC0415
    from infra.http_api import FrontDoor  # noqa: PLC0415

    access = Access.OPEN if options.open else Access.IAM if options.iam else Access.KEYS
    pollers_max = POLLERS_MAX if options.pollers_max is None else options.pollers_max
    choices = Choices(access, pollers_max)
    door = FrontDoor(options.front_door) if options.front_door else None
    return deploying.deploy(_aws(options), options.stage, choices, door, is_agreed=options.yes)


def _destroy(options: argparse.Namespace) -> int:
    from chalicelib.local import deploying  # noqa: PLC0415

    return deploying.destroy(_aws(options), options.stage, with_data=options.data)


def _doctor(options: argparse.Namespace) -> int:
    from chalicelib.local import deploying  # noqa: PLC0415

    return deploying.doctor(_aws(options), options.stage)


def _redrive(options: argparse.Namespace) -> int:
    from chalicelib.local import deploying  # noqa: PLC0415

    return deploying.redrive(_aws(options), options.stage, options.queue)


def _aws(options: argparse.Namespace) -> Account:
    from chalicelib.local.deploying import Account  # noqa: PLC0415

    return Account(options.profile, options.region, options.endpoint_url)
