"""`headrace deploy` and `headrace destroy`: a stage on AWS comes, changes and goes.

The same commands work on the emulated AWS. Nothing is changed before a person, or `--yes`, has
agreed to the plan; a change that fails is rolled back by CloudFormation, and is told.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chalicelib.access import Access
from chalicelib.local.terminal import BOLD, GREEN, RED, paint, say, warn
from infra import destroy as destroying
from infra import doctor as examining
from infra import http_api, names, package, template
from infra import redrive as redriving
from infra.deploy import POLL_S, WAIT_MAX_S, Choices, Deployer
from infra.http_api import FrontDoor

if TYPE_CHECKING:
    import boto3

STAGE = re.compile(r"[a-z][a-z0-9-]{0,19}")  # as the template's parameter
EMULATED_POLL_S = 0.1
ENDPOINT = "AWS_ENDPOINT_URL"  # read by every client (AWS SDKs, "Service-specific endpoints")


class NotDone(Exception):
    """Nothing was done; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where a stage is: whose credentials, which region, which AWS."""

    profile: str | None = None
    region: str | None = None
    endpoint_url: str | None = None

    @property
    def poll_s(self) -> float:
        """How often its stacks are looked at."""
        return EMULATED_POLL_S if self.endpoint_url else POLL_S

    def session(self) -> boto3.session.Session:
        """Return a session, in this process for all clients. Raises: NotDone."""
        import boto3  # noqa: PLC0415

        if self.endpoint_url:
            os.environ[ENDPOINT] = self.endpoint_url
        session = boto3.session.Session(profile_name=self.profile, region_name=self.region)
        if not session.region_name:
            raise NotDone("expected a region: --region R, or AWS_DEFAULT_REGION")
        return session


def deploy(
    account: Account,
    stage: str,
    choices: Choices,
    door: FrontDoor | None = None,
    *,
    is_agreed: bool,
) -> int:
    """Deploy a stage, told step by step; 0 if it is as the source says. Raises: NotDone.

    Shapes: without a `door` a stage keeps the one that it has, and a new one gets a REST API.
    Raises: DeploymentFailed, after the change was rolled back.
    """
    _check(stage)
    deployer = Deployer(account.session(), poll_s=account.poll_s)
    had = deployer.front_door(stage)
    front_door = door or had or FrontDoor.REST_API
    if had not in (None, front_door):
        warn(paint(f"{stage} gets another address: its {had} becomes an {front_door}", RED))
    whole = _whole(choices.access, front_door)
    if choices.access is Access.OPEN:
        warn(paint(f"--open: whoever reaches the address of {stage} may do everything there", RED))
    with tempfile.TemporaryDirectory() as folder:
        say("packaging")
        code = package.build_zip(Path(folder))
        say(f"uploading {code.stat().st_size / 1e6:.1f} MB, unless it is there")
        prepared = deployer.prepare(stage, whole, code, choices, adopts=True)
    if prepared is None:
        say(f"nothing to do: {stage} is up to date")
        _tell_outputs(deployer.outputs(stage), account)
        return 0
    planned = deployer.changes(prepared)
    for change in planned:
        say(str(change))
    counts = Counter(change.verb for change in planned)
    say(f"{stage}: " + ", ".join(f"{number} to {verb}" for verb, number in counts.items()))
    if not is_agreed and not _agrees():
        deployer.forget(prepared)
        raise NotDone("nothing was changed; --yes carries the plan out without asking")
    deployer.carry_out(prepared, _progress)
    say(paint(f"{stage} is deployed", GREEN))
    _tell_outputs(deployer.outputs(stage), account)
    return 0


def _whole(access: Access, front_door: FrontDoor) -> dict[str, Any]:
    """Return the template with the front door and the judge of callers that were chosen."""
    whole = package.build_template()
    if front_door is FrontDoor.HTTP_API:
        return http_api.with_http_api(whole, access)
    return template.signed(whole) if access is Access.IAM else whole


def destroy(account: Account, stage: str, *, with_data: bool) -> int:
    """Take a stage away when its name was typed; 0. Raises: NotDone, DeploymentFailed."""
    _check(stage)
    session = account.session()
    what = "everything of it, ITS DATA TOO" if with_data else "everything of it but its tables"
    say(f"This takes {stage} away: {what}. Type the stage's name to go on:")
    if sys.stdin.readline().strip() != stage:
        raise NotDone("nothing was changed: that was not the stage's name")
    lines = destroying.destroy(
        session,
        stage,
        with_data=with_data,
        tell=_progress,
        poll_s=account.poll_s,
        most_s=WAIT_MAX_S,
    )
    for line in lines:
        say(line)
    say(f"{stage} is gone")
    return 0


def doctor(account: Account, stage: str) -> int:
    """Say of each part of a stage whether it is well, and what is wrong with it; 1 if any is."""
    _check(stage)
    examined = examining.Stage(account.session(), stage, lambda: datetime.now(UTC))
    ill = 0
    for finding in examining.examine(examined):
        ill += bool(finding.wrong)
        state = paint("WRONG", RED) if finding.wrong else paint("well ", GREEN)
        say(f"{state} {finding.check}")
        for wrong in finding.wrong:
            say(f"      {wrong}")
    return 1 if ill else 0


def redrive(account: Account, stage: str, queues: Sequence[str] | None) -> int:
    """Put back what is parked, and say how many messages of which queue; 0.

    Shapes: `queues` None are all. Raises: NotDone; NotMoved if a queue takes one no more.
    """
    _check(stage)
    for found in redriving.redrive(account.session(), stage, queues or list(redriving.QUEUES)):
        say(f"{found.queue:32} {found.moved} messages put back")
    return 0


def _check(stage: str) -> None:
    if not STAGE.fullmatch(stage):
        raise NotDone(
            "expected a stage of 1 to 20 lower-case letters, digits and - that begins with a "
            f"letter, found {stage[:50]!r}"
        )


def _agrees() -> bool:
    if not sys.stdin.isatty():
        return False
    say("Type yes to carry it out:")
    return sys.stdin.readline().strip().lower() == "yes"


def _progress(event: Mapping[str, Any]) -> None:
    """Print a line for each resource that is done, or could not be."""
    status = str(event["ResourceStatus"])
    if status.endswith("_IN_PROGRESS"):
        return
    colour = RED if "FAILED" in status or "ROLLBACK" in status else GREEN
    reason = event.get("ResourceStatusReason", "")
    line = f"{paint(f'{status:24}', colour)} {event['LogicalResourceId']:26} {reason}"
    say(line.rstrip())


def emulated_path(outputs: Mapping[str, str]) -> str:
    """Return where a stage's API is on an emulated AWS, by the outputs of its stack."""
    if http_api.door_of(outputs) is FrontDoor.HTTP_API:
        return f"/_aws/execute-api/{outputs[http_api.OUTPUT]}/{http_api.STAGE}"
    return f"/_aws/execute-api/{outputs.get('RestAPIId', '')}/{names.API_STAGE}"


def _tell_outputs(outputs: Mapping[str, str], account: Account) -> None:
    url = outputs.get("EndpointURL", "")
    if account.endpoint_url:  # where the emulated gateway is, as it cannot say itself
        url = account.endpoint_url.rstrip("/") + emulated_path(outputs)
    told = {
        "URL": url,
        "live table": outputs.get("LiveTableName", ""),
        "history table": outputs.get("HistoryTableName", ""),
        "job queues": outputs.get("JobQueuePrefix", "") + "*",
    }
    for name, value in told.items():
        say(f"{paint(f'{name:14}', BOLD)} {value}")
