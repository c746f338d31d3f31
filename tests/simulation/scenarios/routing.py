"""Message routing: messages that are put, doubled, split, collected and delivered at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from chalicelib.errors import Rejected
from chalicelib.operations import routes, routing
from chalicelib.profile import Profile
from chalicelib.routing.messages import Entry, Group, Message, Place, State
from chalicelib.store import entries, names, routing_keys
from chalicelib.store import routes as declared
from tests.play import to_json
from tests.simulation.scenario import Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import hire

DIAGRAM = "one_task.bpmn"
PROCESS = "one_task"
LIVES_MS = 600_000
ROUNDS_MAX = 2
TO_B = {"channel": "b"}
START = {"endpoint": {"start": {"bpmnProcessId": PROCESS}}}
CALL = {"endpoint": {"call": {"url": "https://example.com/"}}}

# --- who acts ----------------------------------------------------------------------------------


def declare(stage: Stage, channels: str) -> None:
    """Let there be channels, from before the play; what is in them is kept for ten minutes."""
    calm = replace(stage.ports, table=stage.inner)
    for name in channels:
        routes.put_channel(calm, name, to_json({"timeToLive": LIVES_MS}))


def lead(stage: Stage, source: str, *steps: Any) -> None:
    """Let there be the route out of a channel, from before the play."""
    calm = replace(stage.ports, table=stage.inner)
    routes.put_route(calm, source, to_json({"from": source, "steps": list(steps)}))


def collect(stage: Stage, **given: Any) -> None:
    """Let there be an aggregator that messages of channel a are given to, by their keys."""
    calm = replace(stage.ports, table=stage.inner)
    routes.put_aggregator(calm, "all", to_json({"to": "b", **given}))
    lead(stage, "a", {"aggregator": "all"})


def put(
    stage: Stage,
    id_: str,
    *,
    body: Any = None,
    key: str | None = None,
    after_ms: int = 0,
    name: str = "client",
    channel: str = "a",
) -> None:
    """Let a client put a message into a channel, until it is told that it is there."""

    def act() -> None:
        message = Message(id_, to_json({"body": body})["body"], key)
        operation = partial(routing.put_message, stage.ports, channel, message)
        if stage.repeat("put", operation) is not None:
            stage.watch.routes.put.add(Place(channel, id_))

    stage.client(name, act, after_ms)


# --- what is played ----------------------------------------------------------------------------


def _started(stage: Stage) -> None:
    """Two clients put the same message at once, and it starts one instance."""
    declare(stage, "a")
    lead(stage, "a", START)
    hire(stage, "worker", "charge")
    put(stage, "1", body={"x": 1})
    put(stage, "1", body={"x": 1}, name="other client")


def _split(stage: Stage) -> None:
    """A message is split; one of its parts has an id that somebody puts at the same moment."""
    declare(stage, "abc")
    lead(stage, "a", {"splitter": {"items": "=body", "to": "b"}})
    lead(stage, "b", {"channel": "c"})
    put(stage, "1", body=["x", "y"])

    def beside() -> None:
        operation = partial(routing.put_message, stage.ports, "b", Message("1.1", "x"))
        if stage.repeat("put beside", operation) is not None:
            stage.watch.routes.put.add(Place("b", "1.1"))

    stage.client("beside", beside, 60)


def _repeats(stage: Stage) -> None:
    """Two messages give the same text to a repeat filter at once: one of them passes."""
    declare(stage, "ab")
    lead(stage, "a", {"filter": {"repeatsOf": "=body"}}, TO_B)
    put(stage, "1", body="same")
    put(stage, "2", body="same", name="other client")


def _counted(stage: Stage) -> None:
    """Four messages of one key come at once to an aggregator that releases two together."""
    declare(stage, "ab")
    collect(stage, count=2)
    for number in range(4):
        put(stage, str(number), body=number, key="k", name=f"client {number}")


def _count_against_timeout(stage: Stage) -> None:
    """A second message comes at about the time at which its group is released without it."""
    declare(stage, "ab")
    collect(stage, count=2, timeout=2_000)
    put(stage, "0", body=0, key="k")
    put(stage, "1", body=1, key="k", after_ms=2_000, name="late client")


def _correlated(stage: Stage) -> None:
    """A routed message is correlated with an instance that begins to wait at the same time."""
    declare(stage, "ab")
    lead(stage, "a", {"endpoint": {"correlate": {"name": "paid"}}})
    lead(stage, "b", {"endpoint": {"start": {"bpmnProcessId": "message_catch"}}})
    put(stage, "0", body={"invoice": "i-1"}, channel="b")
    for _ in range(ROUNDS_MAX):  # so that it is there in the end, whatever strikes
        put(stage, "1", key="i-1", after_ms=20)


def _called(stage: Stage) -> None:
    """A call fails once, and is tried again."""
    declare(stage, "a")
    lead(stage, "a", CALL)
    put(stage, "1")


def _declared_at_once(stage: Stage) -> None:
    """Two clients declare different routes out of one channel, and change one of them."""
    declare(stage, "abc")
    for name, source, after_ms in (("r", "a", 0), ("s", "a", 0), ("r", "b", 40), ("r", "a", 40)):

        def act(name: str = name, source: str = source) -> None:
            given = to_json({"from": source, "steps": [{"channel": "c"}]})
            try:
                stage.repeat("declare", partial(routes.put_route, stage.ports, name, given))
            except Rejected as refused:
                stage.ledger.refused.append(refused.message)

        stage.client(f"operator of {name}", act, after_ms)


# --- what is expected --------------------------------------------------------------------------


def _all(stage: Stage) -> list[Entry]:
    page = stage.inner.scan(0, 1)
    found = (item for item in page.items if str(item["pk"]).startswith(routing_keys.ENTRY))
    return [entries.to_entry(item) for item in found]


def _discarded(stage: Stage) -> list[Group]:
    page = stage.inner.scan(0, 1)
    found = [i for i in page.items if str(i["sk"]).startswith(routing_keys.CLOSED_GROUP)]
    closed = [entries.to_group(i) for i in found if str(i["pk"]).startswith(routing_keys.GROUP)]
    return [group for group in closed if group.to is None]


def _handled(stage: Stage, *wanted: State) -> Iterator[str]:
    """Each acknowledged message is there and is at one of the ends that are wanted."""
    found = {entry.place: entry for entry in _all(stage)}
    for place in stage.watch.routes.put - found.keys():
        yield f"message {place} was acknowledged and is gone"
    for entry in found.values():
        if entry.state not in wanted:
            yield f"message {entry.place} is {entry.state}: {entry.by}, {entry.why}"
        for place in entry.to:
            if place not in found:
                yield f"message {entry.place} went to {place}, and is not there"


def _one_instance(stage: Stage) -> Iterable[str]:
    yield from _handled(stage, State.DELIVERED)
    delivered = [entry for entry in _all(stage) if entry.state is State.DELIVERED]
    started = sorted(stage.watch.roots)
    if [entry.instance_key for entry in delivered] != started:
        yield f"{[entry.instance_key for entry in delivered]} delivered, {started} were started"


def _one_message(stage: Stage) -> Iterable[str]:
    yield from _handled(stage, State.DELIVERED)
    page = stage.inner.scan(0, 1)
    pk = names.message_pk("paid", "i-1")
    waiting = [i for i in page.items if i["pk"] == pk and str(i["sk"]).startswith(names.BUFFERED)]
    if len(waiting) > 1:
        yield f"one routed message was published as {len(waiting)}"


def _each_part_once(stage: Stage) -> Iterable[str]:
    yield from _handled(stage, State.FORWARDED, State.DROPPED, State.RESTING)
    found = sorted(entry.message.id for entry in _all(stage) if entry.channel == "c")
    is_split = any(entry.place == Place("a", "1") for entry in _all(stage))
    if is_split and found != ["1.1", "1.2"]:
        yield f"parts {found} arrived"


def _one_passes(stage: Stage) -> Iterable[str]:
    yield from _handled(stage, State.FORWARDED, State.DROPPED, State.RESTING)
    found = [entry for entry in _all(stage) if entry.channel == "a"]
    if found and 1 != sum(entry.state is State.FORWARDED for entry in found):
        yield f"of {found} not one passed"


def _bodies(entry: Entry) -> list[Any]:
    assert isinstance(entry.message.body, list)
    return entry.message.body


def _collected(sizes: tuple[int, ...]) -> Callable[[Stage], Iterable[str]]:
    """Expect each message to be in one group that went on, each of one of these sizes."""

    def expect(stage: Stage) -> Iterable[str]:
        yield from _handled(stage, State.HELD, State.RESTING)
        held = [entry for entry in _all(stage) if entry.state is State.HELD]
        released = [_bodies(entry) for entry in _all(stage) if entry.channel == "b"]
        told = Counter(str(body) for bodies in released for body in bodies)
        gone = {place for group in _discarded(stage) for place in group.members}
        wanted = Counter(entry.message.id for entry in held if entry.place not in gone)
        if told != wanted:
            yield f"{wanted} were collected, and {told} went on"
        for bodies in released:
            if len(bodies) not in sizes:
                yield f"a group of {bodies} went on"

    return expect


def _delivered(stage: Stage) -> Iterable[str]:
    yield from _handled(stage, State.DELIVERED)
    if stage.watch.routes.put and not stage.watch.routes.calls:
        yield "nothing was called"


def _one_route(stage: Stage) -> Iterable[str]:
    found = list(declared.every(stage.inner, routing_keys.ROUTE))
    sources = Counter(declared.to_route(each).source for each in found)
    for source, number in sources.items():
        if number > 1:
            yield f"{number} routes lead out of {source}"
        route = declared.route_from(stage.inner, source)
        if route is None or route.name not in {each.name for each in found}:
            yield f"the route out of {source} is {route}"
    for source in "abc":
        if source not in sources and declared.route_from(stage.inner, source) is not None:
            yield f"a route leads out of {source} that is not declared"


routed = partial(Scenario, diagram=None, is_routing=True)

SCENARIOS = (
    routed(
        "routed-start",
        diagram=DIAGRAM,
        act=_started,
        expect=_one_instance,
        profile=Profile.PRIOSTACK,
    ),
    routed(
        "routed-correlation",
        diagram="message_catch.bpmn",
        act=_correlated,
        expect=_one_message,
        profile=Profile.PRIOSTACK,
    ),
    routed("routed-parts", act=_split, expect=_each_part_once),
    routed("routed-repeats", act=_repeats, expect=_one_passes),
    routed("routed-count", act=_counted, expect=_collected((2,))),
    routed("routed-count-against-timeout", act=_count_against_timeout, expect=_collected((1, 2))),
    routed(
        "routed-call",
        act=_called,
        expect=_delivered,
        answers=lambda number: 500 if number == 1 else 200,
    ),
    routed("routes-declared-at-once", act=_declared_at_once, expect=_one_route),
)
