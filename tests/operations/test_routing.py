"""Messages are put into channels, handled once for each id, and seen where they are."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from chalicelib.delivery import routing as queue
from chalicelib.delivery.verdicts import Spare
from chalicelib.errors import Reason, Rejected, TooLarge
from chalicelib.operations import routes, routing
from chalicelib.routing.messages import Message, Place
from tests.operations.routing import Routing

TO_B = {"channel": "b"}
MINUTE = timedelta(minutes=1)


def test_a_message_rests_where_no_route_leads_out() -> None:
    stage = Routing()
    stage.channels("a")

    assert stage.put("a", "1", {"x": 1})
    assert "waiting" == stage.became("a", "1")
    stage.served()

    assert "resting" == stage.became("a", "1")
    assert 0 == stage.queues.count(queue.QUEUE)


def test_a_message_goes_on_once_for_each_id() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", TO_B)

    assert [True, False] == [stage.put("a", "1", body) for body in ("first", "second")]
    stage.served()

    assert ["first"] == stage.bodies("b")
    assert "forwarded" == stage.became("a", "1")
    assert (Place("b", "1"),) == stage.entry("a", "1").to
    assert not stage.put("a", "1")


def test_what_comes_to_a_channel_that_had_its_id_is_dropped_there() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", TO_B)
    stage.put("b", "1", "there")

    stage.put("a", "1", "late")
    stage.served()

    entry = stage.entry("a", "1")
    assert ("dropped", "channel b") == (entry.state.value, entry.by)
    assert ["there"] == stage.bodies("b")


def test_a_filter_drops_and_says_so() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", {"filter": {"condition": "=body.total > 10"}}, TO_B)
    for id_, total in (("low", 5), ("high", 50)):
        stage.put("a", id_, {"total": total})

    stage.served()

    low = stage.entry("a", "low")
    assert ("dropped", "route a, step 1") == (low.state.value, low.by)
    assert [{"total": 50}] == stage.bodies("b")


def test_a_repeat_filter_lets_pass_what_is_the_first_of_its_text() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", {"filter": {"repeatsOf": "body.order"}}, TO_B)
    for id_, order in (("1", 7), ("2", 7), ("3", 8)):
        stage.put("a", id_, {"order": order})
        stage.served()

    assert ["forwarded", "dropped", "forwarded"] == [stage.became("a", i) for i in "123"]
    assert "a repeat: '7' came before" == stage.entry("a", "2").why


def test_a_router_takes_the_first_branch_that_is_true_or_its_default() -> None:
    stage = Routing()
    stage.channels("a", "big", "small", "rest")
    branches = [
        {"when": "=body.total > 100", "to": "big"},
        {"when": "=body.total > 0", "to": "small"},
    ]
    stage.route("a", {"router": {"branches": branches, "default": "rest"}})
    for id_, total in (("1", 500), ("2", 5), ("3", None)):
        stage.put("a", id_, {"total": total})

    stage.served()

    assert [[500], [5], [None]] == [
        [body["total"] for body in stage.bodies(name)] for name in ("big", "small", "rest")
    ]


def test_a_router_without_a_match_or_a_default_drops() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", {"router": {"branches": [{"when": "=false", "to": "b"}]}})
    stage.put("a", "1")

    stage.served()

    assert "dropped" == stage.became("a", "1")


def test_a_splitter_makes_a_message_of_each_item() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", {"splitter": {"items": "=body.lines", "to": "b"}})
    stage.put("a", "1", {"lines": ["x", "y", "z"]})

    stage.served()

    assert ["x", "y", "z"] == [stage.entry("b", f"1.{n}").message.body for n in (1, 2, 3)]


@pytest.mark.parametrize("lines", [None, list(range(81))])
def test_a_splitter_fails_without_a_list_or_with_one_that_is_too_long(lines: object) -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", {"splitter": {"items": "=body.lines", "to": "b"}})
    stage.put("a", "1", {"lines": lines})

    stage.served()

    assert "failed" == stage.became("a", "1")


@pytest.mark.parametrize(("length", "state"), [(34_400, "forwarded"), (34_500, "failed")])
def test_a_splitter_makes_no_more_than_one_transaction_can_write(length: int, state: str) -> None:
    stage = Routing()
    stage.channels("a", "b" * 100)
    stage.route("a", {"splitter": {"items": "for n in 1..80 return body", "to": "b" * 100}})
    id_ = "\N{EURO SIGN}" * 200
    stage.put("a", id_, "x" * length, key="\N{EURO SIGN}" * 1_000)

    stage.served()

    assert state == stage.became("a", id_)
    assert 0 == stage.queues.count(queue.QUEUE)


def test_a_translator_changes_what_it_has_an_expression_for() -> None:
    stage = Routing()
    stage.channels("a", "b")
    translator = {"body": "={n: body.n + 1}", "correlationKey": "=body.n"}
    stage.route("a", {"translator": translator}, TO_B)
    stage.put("a", "1", {"n": 1})

    stage.served()

    message = stage.entry("b", "1").message
    assert ({"n": 2}, "1", {}) == (message.body, message.correlation_key, message.headers)
    assert {"n": 1} == stage.entry("a", "1").message.body


def test_an_aggregator_releases_by_count_under_each_key() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.aggregator("pairs", to="b", count=2)
    stage.route("a", {"aggregator": "pairs"})
    for id_, key in (("1", "x"), ("2", "y"), ("3", "x")):
        stage.put("a", id_, int(id_), key)
        stage.served()

    assert [[1, 3]] == stage.bodies("b")
    assert ["held"] * 3 == [stage.became("a", id_) for id_ in "123"]
    _, group = routing.get_message(stage.ports, "a", "1")
    assert group is not None and ("count", "b") == (group.why, group.to and group.to.channel)
    assert None is routing.get_message(stage.ports, "a", "2")[1]


def test_an_aggregator_releases_by_a_condition_over_its_messages() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.aggregator(
        "all", to="b", condition="=sum(messages.body) >= 10", body="=sum(messages.body)"
    )
    stage.route("a", {"aggregator": "all"})
    for id_, body in (("1", 4), ("2", 5), ("3", 6), ("4", 1)):
        stage.put("a", id_, body, "k")
        stage.served()

    assert [15] == stage.bodies("b")


def test_an_aggregator_releases_what_it_has_at_its_timeout() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.aggregator("pairs", to="b", count=2, timeout=1_800_000)
    stage.route("a", {"aggregator": "pairs"})
    stage.put("a", "1", 1, "k")
    stage.served()

    for _ in range(30):
        assert [] == stage.bodies("b")
        stage.served(MINUTE)

    assert [[1]] == stage.bodies("b")


def test_a_group_that_never_completes_is_discarded_at_its_time_to_live() -> None:
    stage = Routing()
    stage.channels("b")
    routes.put_channel(stage.ports, "a", {"timeToLive": Decimal(60_000)})
    stage.aggregator("pairs", to="b", count=2)
    stage.route("a", {"aggregator": "pairs"})
    stage.put("a", "1", 1, "k")
    stage.served()
    stage.served(2 * MINUTE)

    _, group = routing.get_message(stage.ports, "a", "1")
    assert group is not None and group.to is None and "incomplete" in str(group.why)


def test_a_message_without_a_correlation_key_cannot_be_aggregated() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.aggregator("pairs", to="b", count=2)
    stage.route("a", {"aggregator": "pairs"})
    stage.put("a", "1")

    stage.served()

    assert "failed" == stage.became("a", "1")


def test_a_failed_message_can_be_handled_once_more() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", {"splitter": {"items": "=body", "to": "b"}})
    stage.put("a", "1", "no list")
    stage.served()
    stage.route("a", TO_B)

    routing.retry_message(stage.ports, "a", "1")
    stage.served()

    entry = stage.entry("a", "1")
    assert ("forwarded", None) == (entry.state.value, entry.why)
    with pytest.raises(Rejected) as refused:
        routing.retry_message(stage.ports, "a", "1")
    assert Reason.INVALID_STATE is refused.value.reason


def test_a_circle_of_channels_ends_at_the_first_repeat() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", TO_B)
    stage.route("b", {"channel": "a"})
    stage.put("a", "1")

    stage.served()

    assert ["forwarded", "dropped"] == [stage.became(name, "1") for name in "ab"]


def test_a_circle_that_makes_new_ids_ends_too() -> None:
    stage = Routing()
    stage.channels("a")
    stage.route("a", {"splitter": {"items": "=[1]", "to": "a"}})
    stage.put("a", "1")

    stage.served()

    states = [stage.became("a", "1" + ".1" * hops) for hops in range(17)]
    assert ["forwarded"] * 16 + ["failed"] == states


def test_after_its_time_to_live_a_message_is_gone_and_its_id_is_free() -> None:
    stage = Routing()
    stage.channels("a")
    stage.put("a", "1", "first")
    stage.served()
    stage.clock.move(8 * 86_400)

    with pytest.raises(Rejected):
        stage.entry("a", "1")
    assert stage.put("a", "1", "second")


def test_a_message_that_is_too_large_or_for_no_channel_is_refused() -> None:
    stage = Routing()
    stage.channels("a")

    with pytest.raises(TooLarge):
        stage.put("a", "1", "x" * 150_000)
    with pytest.raises(Rejected) as refused:
        stage.put("none", "1")
    assert Reason.NOT_FOUND is refused.value.reason


# --- what is declared ----------------------------------------------------------------------------


def test_only_one_route_leads_out_of_a_channel() -> None:
    stage = Routing()
    stage.channels("a", "b", "c")
    stage.route("a", TO_B)

    with pytest.raises(Rejected) as refused:
        stage.route("a", {"channel": "c"}, name="other")
    assert Reason.INVALID_STATE is refused.value.reason

    routes.delete_route(stage.ports, "a")
    stage.route("a", {"channel": "c"}, name="other")


def test_a_route_that_is_moved_frees_its_channel() -> None:
    stage = Routing()
    stage.channels("a", "b", "c")
    stage.route("a", {"channel": "c"}, name="r")
    stage.route("b", {"channel": "c"}, name="r")

    stage.route("a", {"channel": "c"}, name="s")
    stage.put("a", "1")
    stage.put("b", "2")
    stage.served()

    assert 2 == len(stage.bodies("c"))


def test_a_route_names_what_is_declared() -> None:
    stage = Routing()
    stage.channels("a")

    for step in (TO_B, {"aggregator": "none"}):
        with pytest.raises(Rejected) as refused:
            stage.route("a", step)
        assert Reason.INVALID_ARGUMENT is refused.value.reason


def test_a_channel_that_a_route_leads_out_of_is_not_removed() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", TO_B)

    with pytest.raises(Rejected):
        routes.delete_channel(stage.ports, "a")
    routes.delete_channel(stage.ports, "b")
    stage.put("a", "1")
    stage.served()

    assert "failed" == stage.became("a", "1")


# --- the net -------------------------------------------------------------------------------------


def test_the_sweeper_tells_again_what_was_lost() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.aggregator("pairs", to="b", count=2, timeout=60_000)
    stage.route("a", {"aggregator": "pairs"})
    stage.put("a", "1", 1, "k")
    stage.lose(queue.QUEUE)
    stage.clock.move(600)

    assert 1 == stage.swept()
    stage.served()
    stage.lose(queue.QUEUE)
    stage.clock.move(600)
    assert 1 == stage.swept()
    stage.served()

    assert [[1]] == stage.bodies("b")
    assert 0 == stage.swept()


def test_a_message_of_the_queue_that_is_put_twice_is_spare() -> None:
    stage = Routing()
    stage.channels("a", "b")
    stage.route("a", TO_B)
    stage.put("a", "1")
    (received,) = stage.queues.receive(queue.QUEUE, 10, 0, 0)
    stage.served()

    assert Spare() == routing.receive(stage.ports, queue.from_text(received.body))


def test_a_message_is_read_as_it_was_put() -> None:
    stage = Routing()
    stage.channels("a")
    message = Message("ä#1", [1, {"x": None}], "k", {"h": "v"})

    routing.put_message(stage.ports, "a", message)

    assert message.headers == stage.entry("a", "ä#1").message.headers
    assert "k" == stage.entry("a", "ä#1").message.correlation_key
