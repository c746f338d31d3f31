"""Message routing over HTTP: declared, put, seen."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.priostack.driver import API, deploy, instance, process, serve_routing, task

ORDER = {"id": "o-1", "correlationKey": "c", "body": {"total": 7}}


def declare(client: Client, path: str, body: Any) -> Any:
    answer = client.put(f"{API}/{path}", body)
    assert 200 == answer.status, answer.text
    return answer.json


def message(client: Client, channel: str, id_: str) -> Any:
    return client.get(f"{API}/channels/{channel}/messages/{id_}").json


def test_an_order_is_filtered_routed_and_starts_an_instance_once(
    client: Client, ports: Ports
) -> None:
    deploy(client, process('<startEvent id="s"/>', task("t"), flows="s>t"))
    for name in ("orders", "accepted"):
        declare(client, f"channels/{name}", {})
    router = {"branches": [{"when": "=body.total > 5", "to": "accepted"}]}
    declare(client, "routes/sort", {"from": "orders", "steps": [{"router": router}]})
    start = {"start": {"bpmnProcessId": "p", "variables": "={order: body, id: id}"}}
    declare(client, "routes/start", {"from": "accepted", "steps": [{"endpoint": start}]})

    first, repeat = (client.post(f"{API}/channels/orders/messages", ORDER) for _ in range(2))
    serve_routing(ports)

    assert [201, 200] == [first.status, repeat.status]
    assert ["waiting", "waiting"] == [each.json["state"] for each in (first, repeat)]
    put = message(client, "orders", "o-1")
    assert ("forwarded", [{"channel": "accepted", "id": "o-1"}]) == (put["state"], put["to"])
    done = message(client, "accepted", "o-1")
    assert "delivered" == done["state"]
    variables = instance(client, done["processInstanceKey"])["variables"]
    assert {"order": {"total": 7}, "id": "o-1"} == variables


def test_what_a_group_has_is_seen_until_it_is_released_and_after(
    client: Client, ports: Ports
) -> None:
    for name in ("in", "out"):
        declare(client, f"channels/{name}", {})
    declare(client, "aggregators/pairs", {"to": "out", "count": 2, "timeout": 60_000})
    declare(client, "routes/r", {"from": "in", "steps": [{"aggregator": "pairs"}]})
    client.post(f"{API}/channels/in/messages", ORDER)
    serve_routing(ports)
    assert "held" == message(client, "in", "o-1")["state"]

    client.post(f"{API}/channels/in/messages", {**ORDER, "id": "o-2"})
    serve_routing(ports)

    held = message(client, "in", "o-1")
    assert ("aggregated", "count") == (held["state"], held["reason"])
    (out,) = client.get(f"{API}/channels/out/messages").json["items"]
    assert held["to"] == [{"channel": "out", "id": out["id"]}]
    assert [{"total": 7}] * 2 == out["body"]


def test_lists_are_paged_and_filtered(client: Client, ports: Ports) -> None:
    declare(client, "channels/in", {})
    declare(client, "channels/out", {})
    declare(
        client,
        "routes/r",
        {"from": "in", "steps": [{"filter": {"condition": "=body.n > 1"}}, {"channel": "out"}]},
    )
    for number in range(3):
        client.post(f"{API}/channels/in/messages", {"id": f"m{number}", "body": {"n": number}})
    serve_routing(ports)

    dropped = client.get(f"{API}/channels/in/messages?state=dropped&limit=1").json
    assert (2, 1) == (dropped["total"], len(dropped["items"]))
    assert "the condition of the filter is not met" == dropped["items"][0]["reason"]
    assert ["in", "out"] == [each["name"] for each in client.get(f"{API}/channels").json["items"]]


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("channels/a%20b", {}, "name"),
        ("channels/a", {"timeToLive": 1}, "timeToLive"),
        ("routes/r", {"from": "in", "steps": []}, "steps"),
        ("routes/r", {"from": "in", "steps": [{"filter": {"condition": "=1"}}]}, "steps.0"),
        ("routes/r", {"from": "in", "steps": [{"channel": "in"}, {"channel": "in"}]}, "steps.0"),
        ("routes/r", {"from": "in", "steps": [{"bend": {}}]}, "steps.0"),
        ("routes/r", {"from": "none", "steps": [{"channel": "in"}]}, "from"),
        ("routes/r", {"from": "in", "steps": [{"channel": "none"}]}, "steps.0"),
        (
            "routes/r",
            {"from": "in", "steps": [{"splitter": {"items": "=1 +", "to": "in"}}]},
            "steps.0.splitter.items",
        ),
        (
            "routes/r",
            {"from": "in", "steps": [{"router": {"branches": [{"when": "=true"}]}}]},
            "steps.0.router.branches.0.to",
        ),
        (
            "routes/r",
            {
                "from": "in",
                "steps": [
                    {
                        "endpoint": {
                            "call": {
                                "url": "https://example.com",
                                "auth": {"type": "bearer", "secret": "plain"},
                            }
                        }
                    }
                ],
            },
            "steps.0.endpoint.call.auth.secret",
        ),
        ("aggregators/a", {"to": "in"}, "expected a count, a condition or a timeout"),
        ("aggregators/a", {"to": "none", "count": 1}, "to"),
        ("aggregators/a", {"to": "in", "count": 0}, "count"),
    ],
)
def test_a_bad_declaration_is_refused_and_says_where(
    client: Client, path: str, body: Any, place: str
) -> None:
    declare(client, "channels/in", {})

    answer = client.put(f"{API}/{path}", body)

    assert 400 == answer.status
    assert place in answer.json["error"]


def test_what_is_not_there_is_404(client: Client) -> None:
    paths = ("channels/x", "routes/x", "aggregators/x", "channels/x/messages/1")
    assert {404} == {client.get(f"{API}/{path}").status for path in paths}
    assert {404} == {client.delete(f"{API}/{path}").status for path in paths[:3]}
    assert 404 == client.post(f"{API}/channels/x/messages", ORDER).status
    assert 404 == client.get(f"{API}/channels/x/messages").status


@pytest.mark.parametrize("body", [{}, {"id": ""}, {"id": "x" * 201}, {"id": "1", "headers": 1}])
def test_a_bad_message_is_400(client: Client, body: Any) -> None:
    declare(client, "channels/in", {})
    assert 400 == client.post(f"{API}/channels/in/messages", body).status


def test_what_is_declared_is_read_changed_and_removed(client: Client) -> None:
    declare(client, "channels/in", {"timeToLive": 60_000})
    declare(client, "channels/out", {})
    route = {"from": "in", "steps": [{"channel": "out"}]}

    assert {"name": "in", "timeToLive": 60_000} == client.get(f"{API}/channels/in").json
    assert {"name": "r", **route} == declare(client, "routes/r", route)
    assert 409 == client.put(f"{API}/routes/other", route).status
    assert 409 == client.delete(f"{API}/channels/in").status
    assert 200 == client.delete(f"{API}/routes/r").status
    assert 200 == client.delete(f"{API}/channels/in").status
    assert {"items": [], "total": 0} == client.get(f"{API}/routes").json
