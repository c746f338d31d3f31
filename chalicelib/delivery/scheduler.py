"""One-time schedules on EventBridge Scheduler, which put a message into a queue and are gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient


@dataclass(frozen=True, slots=True)
class EventBridgeSchedules:
    """Schedules of one stage, in its group; the role may send to all of its queues.

    Shapes: `prefix` is that of the stage's queues, which are in the role's account and the
        client's region.
    """

    client: EventBridgeSchedulerClient
    group: str
    role_arn: str
    prefix: str

    def create(self, name: str, at: datetime, queue: str, body: str) -> None:
        """Plan it; a name that exists is success. The schedule is gone after it fired.

        Source: EventBridge Scheduler API, CreateSchedule; contracts/emulation.md section 3: UTC
            without a time zone, no placeholders in the input.
        """
        try:
            self.client.create_schedule(
                Name=name,
                GroupName=self.group,
                ScheduleExpression=f"at({at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})",
                FlexibleTimeWindow={"Mode": "OFF"},
                Target={"Arn": self._queue_arn(queue), "RoleArn": self.role_arn, "Input": body},
                ActionAfterCompletion="DELETE",
            )
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") != "ConflictException":
                raise

    def _queue_arn(self, queue: str) -> str:
        _, partition, _, _, account, _ = self.role_arn.split(":", 5)
        region = self.client.meta.region_name
        return f"arn:{partition}:sqs:{region}:{account}:{self.prefix}{queue}"
