"""A worker on Lambda, subscribed to the SQS queue of its job type: no polling, no idle cost.

The queue's messages are bells ("look at that job"), never jobs. So the worker claims the job
that a bell names, works, and completes it; whoever claims first has it, and a bell that has
nothing to say any more is simply deleted.

Deployed by `headrace demo` with an event source mapping that has `ReportBatchItemFailures`.
Needs: HEADRACE_URL, and HEADRACE_API_KEY if the server asks for one.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from typing import Any

HORIZON_S = 120  # after this, a bell whose job is not there speaks of one that never was
RETRY_S = 1
TIMEOUT_S = 12  # of a call, so that both fit into the function's 30 s


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job: this is the part that is yours."""
    return {"shelf": f"{job['key'] % 7 + 1}-{job['key'] % 31 + 1:02}"}


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Serve a batch of bells; answer which of them have to come again."""
    again = [record for record in event["Records"] if not is_done(record, context)]
    for record in again:
        look_again(record)
    return {"batchItemFailures": [{"itemIdentifier": each["messageId"]} for each in again]}


def is_done(record: dict[str, Any], context: Any) -> bool:
    """Serve one bell; say whether that was the end of it."""
    try:
        return serve(record["body"], context.aws_request_id)
    except OSError as error:  # Headrace cannot be reached, or takes too long
        print(json.dumps({"bell": record["body"], "error": str(error)}))
        return False


def serve(body: str, request_id: str) -> bool:
    """Work on the job of one bell; False if it is early."""
    bell = json.loads(body)
    claim = {"clientId": f"lambda-{request_id}", "bell": body}
    status, answer = call(f"/v1/jobs/{bell['job']}/claim", claim)
    if status == 200:
        done, said = call(f"/v1/jobs/{answer['key']}/complete", {"variables": work(answer)})
        print(json.dumps({"job": answer["key"], "completed": done, "said": said}))
    elif status == 404 or answer.get("reason") == "early":
        return time.time() - bell["sent"] / 1000 > HORIZON_S  # its turn may commit any moment
    elif status != 409:  # 409 held, waiting or ended: others have it, or its own bell will ring
        raise RuntimeError(f"claim of job {bell['job']}: {status} {answer}")
    return True


def look_again(record: dict[str, Any]) -> None:
    """Show the message again in a second, not only after the queue's visibility timeout."""
    import boto3  # noqa: PLC0415  160 ms of a cold start, for what is rare

    *_, queue = record["eventSourceARN"].split(":")
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    sqs.change_message_visibility(
        QueueUrl=url, ReceiptHandle=record["receiptHandle"], VisibilityTimeout=RETRY_S
    )


def call(path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """POST to Headrace; return the status and the answer's JSON."""
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("HEADRACE_API_KEY"):
        headers["X-Api-Key"] = key
    request = urllib.request.Request(
        os.environ["HEADRACE_URL"] + path, json.dumps(body).encode(), headers
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            return response.status, json.loads(response.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")
