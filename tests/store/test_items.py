from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from inspect import get_annotations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bpmn.model import Binding, EventType
from chalicelib.engine.state import (
    ChildWait,
    Completed,
    ElementInstance,
    Failure,
    Incident,
    InstanceState,
    Job,
    JobState,
    Join,
    LoopItems,
    LoopResults,
    Move,
    Parent,
    Profile,
    Progress,
    Purge,
    Record,
    RecordKey,
    RetryPolicy,
    Root,
    Stage,
    StartLock,
    Subscription,
    Thrown,
    Timer,
    Variables,
)
from chalicelib.ports import Item, ItemKey
from chalicelib.store import items, quotas, table
from tests.store import samples
from tests.store.samples import KEY, NOW

# --- what records may hold ---------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
KEYS = st.integers(KEY + 1, KEY + 5000)
NUMBERS = st.integers(0, 2**40)
TIMES = st.integers(0, 10**13 - 1).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
)
SPANS = st.integers(0, 10**9).map(lambda ms: timedelta(milliseconds=ms))
DECIMALS = st.builds(
    lambda figures, exponent: Decimal(f"{figures}E{exponent}"),
    st.integers(-(10**34) + 1, 10**34 - 1),
    st.integers(-50, 50),
)
JSON = st.recursive(
    st.none() | st.booleans() | DECIMALS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=4) | st.just({"large": "x" * 520})
SMALL = st.integers(0, 9)
IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
MOVES = st.builds(Move, IDS, KEYS | st.just(KEY), st.none() | IDS, SMALL, st.just(0) | KEYS)
JOINS = st.builds(
    Join, st.integers(0, 2**70), st.dictionaries(SMALL, st.integers(1, 5)), st.integers(0, 2**70)
)
PURGES = st.builds(Purge, KEYS, st.none() | MOVES, st.booleans(), st.just(0) | KEYS)

BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "int": NUMBERS,
    "str": TEXTS,
    "bool": st.booleans(),
    "datetime": TIMES,
    "timedelta": SPANS,
    "JsonObject": OBJECTS,
    "Mapping[str, str]": st.dictionaries(TEXTS, TEXTS, max_size=3),
    "InstanceState": st.sampled_from(InstanceState),
    "JobState": st.sampled_from(JobState),
    "Profile": st.sampled_from(Profile),
    "StartLock": st.builds(StartLock, TEXTS, TEXTS, TEXTS),
    "Stage": st.sampled_from(Stage),
    "EventType": st.sampled_from(EventType),
    "RetryPolicy": st.lists(SPANS, max_size=3).map(lambda spans: RetryPolicy(tuple(spans))),
    "Sequence[JsonValue]": st.lists(JSON, max_size=3),
    "Mapping[int, JsonValue]": st.dictionaries(NUMBERS, JSON, max_size=3),
    "Binding": st.sampled_from(Binding),
    "Sequence[str]": st.lists(TEXTS, max_size=2),
    "Parent": st.builds(
        Parent,
        *(KEYS, KEYS, SMALL),
        st.lists(TEXTS, max_size=2),
        st.lists(TEXTS, max_size=2),
        SMALL,
    ),
    "tuple[int, ...]": st.lists(KEYS, max_size=3).map(tuple),
}
ELEMENTS = st.builds(
    ElementInstance,
    KEYS,
    TEXTS,
    KEYS | st.just(KEY),
    TIMES,
    st.integers(0, 5),
    st.none() | KEYS,
    st.lists(KEYS, max_size=2).map(tuple),
    st.none() | KEYS,
    st.lists(KEYS, max_size=2).map(tuple),
    SMALL,
    st.booleans(),
    st.just(0) | KEYS,
    st.booleans(),
    st.dictionaries(IDS, st.lists(SMALL, min_size=1, max_size=3).map(tuple), max_size=2),
    st.just(0) | KEYS,
    st.just(False),
)
UNTOUCHED = st.builds(
    lambda element, loop: element._replace(loop=loop, is_untouched=True),
    ELEMENTS,
    st.integers(1, 9),
)
RESULTS = st.none() | st.dictionaries(SMALL, JSON, max_size=3)
BODIES = st.builds(Progress, *(NUMBERS, NUMBERS, SMALL, st.booleans(), st.booleans()), RESULTS)
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "key": KEYS,
    "instance_key": st.just(KEY),
    "number": st.integers(1, 99_999),
    "live": st.lists(ELEMENTS | UNTOUCHED, max_size=3).map(lambda each: {e.key: e for e in each}),
    "joins": st.dictionaries(st.tuples(KEYS | st.just(KEY), TEXTS), JOINS, max_size=3),
    "bodies": st.dictionaries(KEYS, BODIES, max_size=2),
    "agenda": st.lists(MOVES, max_size=3).map(tuple),
    "completed": st.dictionaries(
        st.builds(Completed, KEYS | st.just(KEY), IDS, st.just(0) | KEYS), NUMBERS, max_size=2
    ),
    "purges": st.lists(PURGES, max_size=2).map(tuple),
}


def records(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Build any record of a type from the names and types of its fields."""
    made: dict[str, st.SearchStrategy[Any]] = {}
    for name, type_ in get_annotations(kind).items():
        text = str(getattr(type_, "__forward_arg__", type_))  # a named tuple wraps what it is told
        plain = text.removesuffix(" | None")
        one = BY_NAME[name] if name in BY_NAME else BY_TYPE[plain]
        made[name] = st.none() | one if plain != text else one
    return st.builds(kind, **made)


def read_again(record: Record) -> Record | None:
    stored = items.of_record(KEY, record)
    whole = {place: item | {"pk": place.pk, "sk": place.sk} for place, item in stored.items()}
    first = next(iter(whole.values()))
    return items.to_record(first, whole)


KINDS = (
    Variables,
    Job,
    Timer,
    Subscription,
    Incident,
    Failure,
    LoopItems,
    LoopResults,
    ChildWait,
    Thrown,
)


@given(st.one_of(*(records(kind) for kind in KINDS)))
def test_every_record_is_read_from_its_items_as_it_was(record: Record) -> None:
    assert record == read_again(record)


@given(records(Root).map(lambda root: root._replace(key=KEY)), OBJECTS)
def test_every_root_is_read_from_its_item_as_it_was(root: Root, values: dict[str, Any]) -> None:
    top = Variables(KEY, values)
    item = items.of_root(root, top) | {"pk": f"I#{KEY}", "sk": "R"}

    assert root == items.to_root(item)
    assert items.inline_variables(item) in (top, None)


def test_numbers_stay_digit_for_digit() -> None:
    values = {"a": Decimal("1.50"), "b": Decimal("1E+400"), "c": Decimal("0.1000"), "d": Decimal(7)}

    found = read_again(Variables(KEY + 1, values))

    assert isinstance(found, Variables)
    assert {name: str(value) for name, value in values.items()} == {
        name: str(value) for name, value in found.values.items()
    }


def test_variables_of_512_bytes_are_the_largest_on_the_root() -> None:
    def held(size: int) -> bool:
        values = {"x": "x" * (size - len('{"x":""}'))}
        return "variables" in items.of_root(samples.root(), Variables(KEY, values))

    assert (True, False) == (held(512), held(513))


@pytest.mark.parametrize(
    ("state", "is_open"),
    [
        (InstanceState.ACTIVE, True),
        (InstanceState.TERMINATING, True),
        (InstanceState.COMPLETED, False),
        (InstanceState.TERMINATED, False),
    ],
)
def test_only_open_instances_are_in_the_index_of_open_ones(
    state: InstanceState, is_open: bool
) -> None:
    item = items.of_root(samples.root(state=state), None)

    assert is_open == ("open_in" in item)
    assert "listed_in" in item


def test_only_open_incidents_are_in_the_index_of_open_ones() -> None:
    def item(incident: Incident) -> Item:
        return next(iter(items.of_record(KEY, incident).values()))

    assert "open_in" in item(samples.incident())
    assert "open_in" not in item(samples.incident(resolved_at=NOW))


def test_every_root_of_a_shard_of_instances_is_in_its_own_partition() -> None:
    keys = [KEY + 4096 * number for number in range(2 * table.SHARDS)]
    homes = {items.of_root(samples.root(key=key), None)["listed_in"] for key in keys}

    assert {f"instances#{shard}" for shard in range(table.SHARDS)} == homes


def test_a_failure_is_not_found_by_its_key() -> None:
    with pytest.raises(ValueError, match="by its job and number"):
        items.place_of(KEY, RecordKey(Failure, 5))


def test_the_hot_item_of_a_job_is_below_a_kilobyte_with_all_that_it_may_hold() -> None:
    job = samples.job(
        inputs={"x": "x" * 280},
        headers={},
        last_failure_message="m" * 200,
        owner="a client id of some length, 45 characters",
        lock_until=NOW,
        lock_duration=timedelta(hours=1),
        claim_id="0" * 32,
        assignee="somebody@example.org",
        retry_at=NOW,
        delivery_token=1000,
    )

    sizes = {place.sk[0]: quotas.size_of(item) for place, item in items.of_record(KEY, job).items()}

    assert {"J"} == sizes.keys()
    assert sizes["J"] + len("write_id") + 16 + len("pksk") + 30 < 1200


def test_places_tell_their_table() -> None:
    places = items.of_record(KEY, samples.timer())

    assert [ItemKey("live", f"I#{KEY}", f"T#{KEY + 7:016}")] == list(places)
