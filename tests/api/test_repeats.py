"""The `Idempotency-Key` header makes what is not safe to repeat safe to repeat."""

from __future__ import annotations

import pytest

from tests.api.client import Answer, Client
from tests.api.driver import activate, create, deploy, instance, job, one_task

KEY = {"Idempotency-Key": "order-7"}


def start(client: Client, body: str | bytes, **headers: str) -> Answer:
    raw = body if isinstance(body, bytes) else body.encode()
    return client.post("/v1/process-instances", raw, **{**KEY, **headers})


def test_a_repeated_start_is_201_again_with_the_instance_as_it_is_now(client: Client) -> None:
    body = f'{{"processDefinitionKey": {deploy(client, one_task())}, "variables": {{"a": 1}}}}'
    first = start(client, body)
    (one,) = activate(client)
    client.post(f"/v1/jobs/{one['key']}/complete", {})

    again = start(client, body)

    assert (201, 201) == (first.status, again.status)
    assert "active" == first.json["state"]
    assert instance(client, first.json["key"]) == again.json
    assert "completed" == again.json["state"]


def test_blanks_and_the_order_of_members_make_no_other_body(client: Client) -> None:
    key = deploy(client, one_task())
    first = start(client, f'{{"processDefinitionKey":{key},"variables":{{"a":1,"b":[1.50]}}}}')
    again = start(
        client, f'{{"variables": {{"b": [1.50], "a": 1}}, "processDefinitionKey": {key}}}'
    )

    assert first.json["key"] == again.json["key"]


def test_another_body_is_409_and_starts_nothing(client: Client) -> None:
    key = deploy(client, one_task())
    start(client, f'{{"processDefinitionKey":{key}}}')

    answer = start(client, f'{{"processDefinitionKey":{key},"variables":{{"a":1}}}}')

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "Idempotency-Key 'order-7'" in answer.json["message"]
    assert 1 == len(activate(client))


def test_without_a_key_every_start_starts(client: Client) -> None:
    key = deploy(client, one_task())
    starts = [client.post("/v1/process-instances", {"processDefinitionKey": key}) for _ in "ab"]

    assert 2 == len({answer.json["key"] for answer in starts})


@pytest.mark.parametrize("key", ["", "  ", "x" * 256])
def test_a_key_that_could_not_keep_its_promise_is_400(client: Client, key: str) -> None:
    body = f'{{"processDefinitionKey":{deploy(client, one_task())}}}'

    answer = start(client, body, **{"Idempotency-Key": key})

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert 'parameter "Idempotency-Key" in header has an error' in answer.json["message"]
    assert [] == activate(client)


def test_a_repeated_failure_is_204_again_and_spends_one_attempt(client: Client) -> None:
    create(client, one_task(definition='retries="3"'))
    (one,) = activate(client)
    url = f"/v1/jobs/{one['key']}/fail"

    answers = [client.post(url, {"message": "no stock"}, **KEY) for _ in range(3)]

    assert [204, 204, 204] == [answer.status for answer in answers]
    assert 1 == job(client, one["key"])["attempts"]


def test_another_failure_under_the_key_is_409_and_one_of_another_job_counts(client: Client) -> None:
    definition = one_task(definition='retries="3"')
    create(client, definition)
    create(client, definition)
    one, two = activate(client)
    client.post(f"/v1/jobs/{one['key']}/fail", {"message": "a"}, **KEY)

    assert 409 == client.post(f"/v1/jobs/{one['key']}/fail", {"message": "b"}, **KEY).status
    assert 204 == client.post(f"/v1/jobs/{two['key']}/fail", {"message": "b"}, **KEY).status
    assert [1, 1] == [job(client, each["key"])["attempts"] for each in (one, two)]


def test_a_page_of_another_origin_may_send_the_header(client: Client) -> None:
    answer = client.request("OPTIONS", "/v1/process-instances")

    assert "Idempotency-Key" in answer.headers["Access-Control-Allow-Headers"]
