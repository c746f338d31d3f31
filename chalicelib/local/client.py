"""A small client of `/v1`, for the commands that work through HTTP as everybody else does."""

from __future__ import annotations

import urllib.error
import urllib.request
from dataclasses import dataclass
from urllib.parse import quote

from chalicelib import json_text
from chalicelib.json_text import JsonObject

TIMEOUT_S = 35.0  # above the gateway's own
HISTORY_MAX = 1_000  # rows of one page (contracts/zenbpm.md section 1.4)


class Refused(Exception):
    """The server answered with an error; the message is one line for a person."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}" if code else message)
        self.status = status


class Unreachable(Exception):
    """Nobody answers there."""


@dataclass(frozen=True)
class Client:
    """Speaks to one server."""

    url: str
    api_key: str | None = None

    def deploy(self, xml: bytes) -> int:
        """Deploy a BPMN file; return the key of its first process. Raises: Refused."""
        answer = self._call("POST", "/v1/process-definitions", xml, "application/octet-stream")
        return int(answer["processDefinitionKey"])

    def create_instance(
        self, definition: int, variables: JsonObject, business_key: str | None = None
    ) -> JsonObject:
        """Start an instance; return it as it is once all its tokens wait, or it ended."""
        body: JsonObject = {"processDefinitionKey": definition, "variables": variables}
        if business_key is not None:
            body["businessKey"] = business_key
        return self._json("POST", "/v1/process-instances", body)

    def instance(self, key: int) -> JsonObject:
        return self.get(f"/v1/process-instances/{key}")

    def history(self, key: int) -> list[JsonObject]:
        """Return what an instance did, oldest first: elements and sequence flows."""
        path = f"/v1/process-instances/{key}/history?size={HISTORY_MAX}&sortOrder=asc"
        return list(self.get(path)["items"])

    def jobs(self, instance: int) -> list[JsonObject]:
        path = f"/v1/process-instances/{instance}/jobs?size=100"
        return list(self.get(path)["items"])

    def incidents(self, instance: int) -> list[JsonObject]:
        path = f"/v1/process-instances/{instance}/incidents?state=unresolved&size=10"
        return list(self.get(path)["items"])

    def activate(self, job_type: str, client_id: str, max_jobs: int, wait: str) -> list[JsonObject]:
        """Wait for jobs of a type; return those that are now ours."""
        body: JsonObject = {
            "type": job_type,
            "clientId": client_id,
            "maxJobs": max_jobs,
            "waitFor": wait,
        }
        return list(self._json("POST", "/v1/jobs/activate", body)["jobs"])

    def complete(self, job: int, variables: JsonObject) -> None:
        self._json("POST", f"/v1/jobs/{job}/complete", {"variables": variables})

    def cancel(self, instance: int) -> None:
        self._call("POST", f"/v1/process-instances/{instance}/cancel")

    def get(self, path: str) -> JsonObject:
        return self._call("GET", path)

    def post(self, path: str, body: JsonObject | None = None) -> JsonObject:
        return self._call("POST", path) if body is None else self._json("POST", path, body)

    def put(self, path: str, body: JsonObject) -> JsonObject:
        return self._json("PUT", path, body)

    def patch(self, path: str, body: JsonObject) -> JsonObject:
        return self._json("PATCH", path, body)

    def delete(self, path: str) -> JsonObject:
        return self._call("DELETE", path)

    def _json(self, method: str, path: str, body: JsonObject) -> JsonObject:
        return self._call(method, path, json_text.dumps(body).encode(), "application/json")

    def _call(
        self, method: str, path: str, body: bytes | None = None, media_type: str | None = None
    ) -> JsonObject:
        headers = {"Content-Type": media_type} if media_type else {}
        if self.api_key:
            headers["X-Api-Key"] = self.api_key
        target = self.url.rstrip("/") + quote(path, safe="/?&=%")
        request = urllib.request.Request(target, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
                answer = json_text.loads(response.read() or b"{}")
                return answer if isinstance(answer, dict) else {}
        except urllib.error.HTTPError as error:
            raise _refused(error) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"no Headrace answers at {self.url}: {reason}") from error


def _refused(error: urllib.error.HTTPError) -> Refused:
    text = error.read()
    try:
        body = json_text.loads(text)
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return Refused(error.code, str(body.get("code", "")), body["message"])
    return Refused(error.code, "", f"HTTP {error.code} {error.reason}")
