"""Schedules on EventBridge Scheduler, which put a message into a queue when their time comes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from botocore.exceptions import ClientError

from chalicelib.errors import Conflict
from chalicelib.faults import calling, code_of
from chalicelib.scheduler.schedules import Expression

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_scheduler.type_defs import CreateScheduleInputTypeDef, GetScheduleOutputTypeDef

PUTS_MAX = 5  # tries at one schedule that others make, change and remove at the same time
NAMES_MAX = 100  # of one answer (ListSchedules)

_CONFLICT, _MISSING = "ConflictException", "ResourceNotFoundException"


SCHEDULER = "EventBridge Scheduler"


class NotPlanned(Conflict):
    """Others kept changing a schedule."""


class Plan(NamedTuple):
    """A schedule of any kind: when it fires, and what it sends to which queue.

    Shapes: `start` is the first firing of a `rate(…)`, which fires at once without one.
    """

    name: str
    when: Expression
    queue: str
    body: str
    start: datetime | None = None


@dataclass(frozen=True, slots=True)
class EventBridgeSchedules:
    """Schedules of one stage, in its group; the role may send to all of its queues.

    Shapes: `prefix` is that of the stage's queues, which are in the role's account and the
        client's region.
    Raises: Busy, whatever is called, if the scheduler takes no more calls or does not answer.
    """

    client: EventBridgeSchedulerClient
    group: str
    role_arn: str
    prefix: str

    @calling(SCHEDULER)
    def create(self, name: str, at: datetime, queue: str, body: str) -> None:
        """Plan it; a name that exists is success. The schedule is gone after it fired.

        Source: EventBridge Scheduler API, CreateSchedule; contracts/emulation.md section 3: UTC
            without a time zone, no placeholders in the input.
        """
        when = Expression(f"at({at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})")
        request = self._request(Plan(name, when, queue, body))
        del request["ScheduleExpressionTimezone"]
        self._create(request)

    @calling(SCHEDULER)
    def put(self, plan: Plan) -> None:
        """Make a schedule, or put it in place of the one of that name; an equal one stays.

        Raises: NotPlanned.
        """
        request = self._request(plan)
        for _ in range(PUTS_MAX):
            if self._create(request):
                return
            present = self._get(plan.name)
            if present is None:
                continue  # it was removed, or has fired, meanwhile
            if _is_equal(present, request) or self._update(request):
                return
        raise NotPlanned(f"expected to put schedule {plan.name}, it changed {PUTS_MAX} times")

    @calling(SCHEDULER)
    def remove(self, name: str) -> None:
        """Remove a schedule; one that is not there is removed already."""
        try:
            self.client.delete_schedule(Name=name, GroupName=self.group)
        except ClientError as error:
            if code_of(error) != _MISSING:
                raise

    @calling(SCHEDULER)
    def names(self, prefix: str) -> list[str]:
        """Return the names of schedules that begin so, at most NAMES_MAX."""
        answer = self.client.list_schedules(
            GroupName=self.group, NamePrefix=prefix, MaxResults=NAMES_MAX
        )
        return [each["Name"] for each in answer["Schedules"] if "Name" in each]

    def _request(self, plan: Plan) -> CreateScheduleInputTypeDef:
        request: CreateScheduleInputTypeDef = {
            "Name": plan.name,
            "GroupName": self.group,
            "ScheduleExpression": plan.when.text,
            "ScheduleExpressionTimezone": plan.when.timezone,
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "Target": {
                "Arn": self._queue_arn(plan.queue),
                "RoleArn": self.role_arn,
                "Input": plan.body,
            },
            "ActionAfterCompletion": "DELETE",  # a recurring one never completes
        }
        if plan.start is not None:
            request["StartDate"] = plan.start
        return request

    def _create(self, request: CreateScheduleInputTypeDef) -> bool:
        """Return False if there is a schedule of that name."""
        try:
            self.client.create_schedule(**request)
        except ClientError as error:
            if code_of(error) != _CONFLICT:
                raise
            return False
        return True

    def _update(self, request: CreateScheduleInputTypeDef) -> bool:
        """Replace a schedule whole; return False if it is gone or being changed."""
        try:
            self.client.update_schedule(**request)
        except ClientError as error:
            if code_of(error) not in (_CONFLICT, _MISSING):
                raise
            return False
        return True

    def _get(self, name: str) -> GetScheduleOutputTypeDef | None:
        try:
            return self.client.get_schedule(Name=name, GroupName=self.group)
        except ClientError as error:
            if code_of(error) != _MISSING:
                raise
            return None

    def _queue_arn(self, queue: str) -> str:
        _, partition, _, _, account, _ = self.role_arn.split(":", 5)
        region = self.client.meta.region_name
        return f"arn:{partition}:sqs:{region}:{account}:{self.prefix}{queue}"


def _is_equal(present: GetScheduleOutputTypeDef, wanted: CreateScheduleInputTypeDef) -> bool:
    """Say whether a schedule fires and sends what is wanted; when it first did is past."""
    found, target = present["Target"], wanted["Target"]
    return (
        present["ScheduleExpression"] == wanted["ScheduleExpression"]
        and present["ScheduleExpressionTimezone"] == wanted.get("ScheduleExpressionTimezone")
        and (found["Arn"], found["RoleArn"]) == (target["Arn"], target["RoleArn"])
        and found.get("Input") == target.get("Input")
    )
