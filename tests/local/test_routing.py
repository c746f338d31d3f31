"""Message routing on `headrace serve`, through HTTP, SQS, EventBridge Scheduler and the runners."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from chalicelib.local.client import Refused
from tests.api.driver import model
from tests.local.drained import draining
from tests.local.serving import Served, serving
from tests.patience import eventually

pytestmark = pytest.mark.aws

API = "/api/v1"
ALLOWED = {"SCHEDULER_ALLOW_PRIVATE_ADDRESSES": "true"}


class Channels:
    """The routing API, as verbs."""

    def __init__(self, served: Served) -> None:
        self.client = served.client

    def declare(self, *paths: str, **members: Any) -> None:
        for path in paths:
            self.client.put(f"{API}/{path}", members)

    def put(self, channel: str, id_: str, body: Any, key: str | None = None) -> None:
        message = {"id": id_, "body": body, "correlationKey": key}
        self.client.post(f"{API}/channels/{channel}/messages", message)

    def message(self, channel: str, id_: str) -> Any:
        return self.client.get(f"{API}/channels/{channel}/messages/{id_}")

    def became(self, channel: str, id_: str, state: str) -> bool:
        """Wait until a message is in a state; say whether it came to be."""

        def has_become() -> bool:
            with suppress(Refused):
                return bool(self.message(channel, id_)["state"] == state)
            return False

        return eventually(has_become)

    def bodies(self, channel: str) -> list[Any]:
        page = self.client.get(f"{API}/channels/{channel}/messages")
        return [each["body"] for each in page["items"]]


@pytest.fixture(scope="module")
def channels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Channels]:
    folder = tmp_path_factory.mktemp("routing")
    with serving(folder, "--ephemeral", **ALLOWED) as served:
        yield Channels(served)


def test_an_order_is_routed_and_starts_an_instance(channels: Channels) -> None:
    channels.client.post(f"{API}/process-definitions", {"xml": model("one_task.bpmn").decode()})
    channels.declare("channels/orders", "channels/accepted")
    router = {"branches": [{"when": "=body.total > 5", "to": "accepted"}]}
    channels.declare("routes/sort", **{"from": "orders", "steps": [{"router": router}]})
    start = {"start": {"bpmnProcessId": "one_task"}}
    channels.declare("routes/start", **{"from": "accepted", "steps": [{"endpoint": start}]})

    for total in (7, 8):  # the second one repeats an id
        channels.put("orders", "o-1", {"total": total})

    assert channels.became("orders", "o-1", "forwarded")
    assert channels.became("accepted", "o-1", "delivered")
    key = channels.message("accepted", "o-1")["processInstanceKey"]
    page = channels.client.get(f"{API}/process-instances")
    assert [(key, {"total": 7})] == [(each["key"], each["variables"]) for each in page["items"]]


def test_a_group_is_released_at_its_timeout(channels: Channels) -> None:
    channels.declare("channels/in", "channels/out")
    channels.declare("aggregators/all", to="out", count=3, timeout=2_000)
    channels.declare("routes/r", **{"from": "in", "steps": [{"aggregator": "all"}]})

    for number in range(2):
        channels.put("in", f"m{number}", number, "k")

    assert eventually(lambda: channels.bodies("out"))
    assert [[0, 1]] == [sorted(body) for body in channels.bodies("out")]


def test_an_endpoint_calls_a_url_until_it_answers(channels: Channels) -> None:
    channels.declare("channels/calls")
    with draining(pages=1, refusals=1) as endpoint:
        endpoint.gate.set()
        call = {"call": {"url": endpoint.url}}
        channels.declare("routes/call", **{"from": "calls", "steps": [{"endpoint": call}]})

        channels.put("calls", "c-1", {"x": 1})

        assert channels.became("calls", "c-1", "delivered")
        told = channels.message("calls", "c-1")
        assert (1, 200) == (told["attempts"], told["statusCode"])
