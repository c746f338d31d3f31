"""Takes a stage away: its stack, the job queues that its functions made, its bucket of code.

The tables stay, as the template says, unless they are asked for too: they hold what was promised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from infra import changes, names
from infra.deploy import DeploymentFailed, bucket_name, stack_name

if TYPE_CHECKING:
    import boto3

    from infra.changes import Event

GONE = "DELETE_COMPLETE"
QUEUES_PAGE = 1_000  # SQS's largest


def destroy(
    session: boto3.session.Session,
    stage: str,
    *,
    with_data: bool,
    tell: Callable[[Event], None],
    poll_s: float,
    most_s: float,
) -> Iterator[str]:
    """Take a stage away and yield a line for each thing beside the stack's own resources.

    What is gone already is no error, so that it can be repeated. Raises: DeploymentFailed.
    """
    _delete_stack(session, stage, tell=tell, poll_s=poll_s, most_s=most_s)
    sqs = session.client("sqs")
    prefix = _resolved(names.JOB_QUEUES, stage).removesuffix("*")
    pages = sqs.get_paginator("list_queues").paginate(
        QueueNamePrefix=prefix, PaginationConfig={"PageSize": QUEUES_PAGE}
    )
    for url in [url for page in pages for url in page.get("QueueUrls", [])]:
        sqs.delete_queue(QueueUrl=url)
        yield f"removed queue {url.rpartition('/')[2]}"
    bucket = bucket_name(session, stage)
    if _delete_bucket(session, bucket):
        yield f"removed bucket {bucket}"
    for table in (names.LIVE_TABLE, names.HISTORY_TABLE):
        name = _resolved(table, stage)
        if not with_data:
            yield f"kept    table {name} (--data removes it)"
        elif _delete_table(session, name):
            yield f"removed table {name}"


def _delete_stack(
    session: boto3.session.Session,
    stage: str,
    *,
    tell: Callable[[Event], None],
    poll_s: float,
    most_s: float,
) -> None:
    client = session.client("cloudformation")
    try:
        found = client.describe_stacks(StackName=stack_name(stage))["Stacks"][0]
    except ClientError as error:
        if "does not exist" in str(error):
            return
        raise
    stack = found["StackId"]  # by which it is known when it is gone, too
    after = changes.last_event(client, stack)
    client.delete_stack(StackName=stack)
    failures: list[str] = []

    def listen(event: Event) -> None:
        if event["ResourceStatus"] == "DELETE_FAILED":
            failures.append(
                f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason')}"
            )
        tell(event)

    status = changes.follow(client, stack, after=after, tell=listen, poll_s=poll_s, most_s=most_s)
    if status != GONE:
        raise DeploymentFailed(f"stack {stack_name(stage)}: {'; '.join(failures)} ({status})")


def _delete_bucket(session: boto3.session.Session, bucket: str) -> bool:
    s3 = session.client("s3")
    try:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for each in page.get("Contents", []):
                s3.delete_object(Bucket=bucket, Key=each["Key"])
        s3.delete_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchBucket", "404"):
            return False
        raise
    return True


def _delete_table(session: boto3.session.Session, name: str) -> bool:
    client = session.client("dynamodb")
    try:
        client.delete_table(TableName=name)
    except client.exceptions.ResourceNotFoundException:
        return False
    return True


def _resolved(name: str, stage: str) -> str:
    return names.resolve(name, stage=stage, account="", region="")
