from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

import pytest

from chalicelib.engine.keys import FIRST_BLOCK, first_key
from chalicelib.engine.state import (
    ElementInstance,
    Instance,
    InstanceState,
    Job,
    JobState,
    Record,
    Root,
    Variables,
    key_of,
)
from chalicelib.engine.turn import Turn
from chalicelib.store import instances, lists, table
from chalicelib.store.lists import Cut, Listed, WantedInstances, WantedJobs
from tests.counting import CountingTable
from tests.fakes.table import MemoryTable
from tests.store import samples
from tests.store.samples import NOW

ACTIVE, COMPLETED = InstanceState.ACTIVE, InstanceState.COMPLETED
ALL = Cut(size=100)


@pytest.fixture
def store() -> CountingTable:
    return CountingTable(MemoryTable())


def key_at(number: int) -> int:
    return first_key(FIRST_BLOCK + number)


def started(
    store: CountingTable,
    number: int,
    *,
    jobs: Iterable[Job] = (),
    values: Mapping[str, object] | None = None,
    **changes: object,
) -> Root:
    """Store the instance of that number, made that many seconds after the first."""
    key, at = key_at(number), NOW + timedelta(seconds=number)
    own = [job._replace(key=key + job.key, instance_key=key) for job in jobs]
    live = {
        job.element_key: ElementInstance(job.element_key, job.element_id, key, at, job=job.key)
        for job in own
        if job.state in (JobState.ACTIVE, JobState.FAILED)
    }
    blocks = (FIRST_BLOCK + number,)
    root = samples.root(key=key, created_at=at, blocks=blocks, turn_id=f"t{number}", live=live)
    root = root._replace(**changes)  # type: ignore[arg-type]
    records: list[Record] = [*own, Variables(key, dict(values or {"n": str(number)}))]
    after = Instance(root, {key_of(record): record for record in records})
    assert instances.commit(store, Turn(None, after, at))
    return root


def ended(store: CountingTable, root: Root, state: InstanceState = COMPLETED) -> None:
    before = instances.load(store, root.key)
    assert before is not None
    instances.commit(store, samples.then(before, turn_id=f"e{root.key}", state=state, live={}))


def found(store: CountingTable, cut: Cut = ALL, **wanted: object) -> tuple[list[int], int, bool]:
    """Return the numbers of the instances listed, the total, and whether it is a floor."""
    listed = lists.list_instances(store, WantedInstances(**wanted), cut)  # type: ignore[arg-type]
    numbers = [(each.key - key_at(0)) // 4096 for each in listed.items]
    return numbers, listed.total, listed.is_floor


# --- instances ---------------------------------------------------------------------------------


def test_instances_are_listed_from_the_newest_with_their_variables(store: CountingTable) -> None:
    roots = [started(store, number) for number in range(6)]
    large = {"x": "x" * 600}
    started(store, 6, values=large)

    listed = lists.list_instances(store, WantedInstances(), ALL)

    assert [6, 5, 4, 3, 2, 1, 0] == found(store)[0]
    assert roots[::-1] == [each.root for each in listed.items[1:]]
    assert [large, {"n": "5"}] == [
        record.values
        for each in listed.items[:2]
        for record in each.records.values()
        if isinstance(record, Variables)
    ]


def test_nothing_is_an_empty_list(store: CountingTable) -> None:
    assert ([], 0, False) == found(store)


def test_a_page_is_a_part_and_the_total_counts_all_also_past_the_end(store: CountingTable) -> None:
    for number in range(12):
        started(store, number)

    assert ([11, 10, 9], 12, False) == found(store, Cut(size=3))
    assert ([1, 0], 12, False) == found(store, Cut(first=10, size=3))
    assert ([], 12, False) == found(store, Cut(first=30, size=3))
    assert ([0, 1, 2], 12, False) == found(store, Cut(size=3, ascending=True))


def test_a_page_without_questions_reads_only_its_own_items(store: CountingTable) -> None:
    for number in range(40):
        started(store, number)
    store.costs()

    found(store, Cut(size=2))

    costs = store.costs()
    assert (table.SHARDS, table.SHARDS + 1) == (costs.index_queries, costs.requests)


def test_instances_are_found_by_definition(store: CountingTable) -> None:
    started(store, 0)
    started(store, 1, definition_key=7)
    started(store, 2, definition_key=8)

    assert ([1], 1, False) == found(store, definition_keys=frozenset({7}))
    assert ([2, 1], 2, False) == found(store, definition_keys=frozenset({7, 8}))
    assert ([], 0, False) == found(store, definition_keys=frozenset())


def test_instances_are_found_by_the_time_they_were_made(store: CountingTable) -> None:
    for number in range(6):
        started(store, number)
    second = timedelta(seconds=1)

    assert [3, 2] == found(store, created_from=NOW + 2 * second, created_to=NOW + 3 * second)[0]
    assert [5, 4] == found(store, created_from=NOW + 4 * second)[0]
    assert [1, 0] == found(store, created_to=NOW + second)[0]
    assert [] == found(store, created_from=NOW + 9 * second)[0]


def test_instances_are_found_by_what_changes_about_them(store: CountingTable) -> None:
    for number in range(4):
        root = started(store, number, business_key=f"b{number % 2}", jobs=[samples.job(key=2)])
        if number < 2:
            ended(store, root)

    assert [1, 0] == found(store, states=frozenset({COMPLETED}))[0]
    assert [3, 2] == found(store, states=frozenset({ACTIVE}))[0]
    assert [3, 2, 1, 0] == found(store, states=frozenset({ACTIVE, COMPLETED}))[0]
    assert [3, 1] == found(store, business_key="b1")[0]
    assert [3] == found(store, business_key="b1", states=frozenset({ACTIVE}))[0]
    assert [3, 2] == found(store, element_id="charge")[0]
    assert [] == found(store, element_id="other")[0]


def test_open_instances_are_found_among_any_number_of_ended_ones(store: CountingTable) -> None:
    started(store, 0)
    for number in range(1, 9):
        ended(store, started(store, number))

    assert ([0], 1, False) == found(store, Cut(looks_max=5), states=frozenset({ACTIVE}))


@pytest.mark.parametrize(
    ("sort_by", "ascending", "expected"),
    [
        ("created_at", True, [0, 1, 2, 3]),
        ("key", True, [0, 1, 2, 3]),
        ("key", False, [3, 2, 1, 0]),
        ("business_key", True, [3, 0, 2, 1]),
        ("bpmn_process_id", True, [1, 3, 0, 2]),
        ("state", True, [0, 3, 1, 2]),
        ("state", False, [2, 1, 3, 0]),
    ],
)
def test_instances_are_sorted(
    store: CountingTable, sort_by: str, ascending: bool, expected: list[int]
) -> None:
    for number, (business_key, process_id) in enumerate(
        [("a", "z"), ("c", "y"), ("b", "z"), (None, "y")]
    ):
        root = started(store, number, business_key=business_key, bpmn_process_id=process_id)
        if number in (1, 2):
            ended(store, root)

    assert expected == found(store, Cut(size=9, sort_by=sort_by, ascending=ascending))[0]


def test_a_list_stops_at_its_bound_and_says_so(store: CountingTable) -> None:
    for number in range(6):
        started(store, number)

    cut = Cut(looks_max=5)

    assert ([5, 4, 3, 2, 1], 5, True) == found(store, cut)
    assert ([5, 4, 3, 2, 1], 5, True) == found(store, cut, states=frozenset({ACTIVE}))
    assert ([5, 4, 3, 2], 4, False) == found(store, cut, created_from=NOW + timedelta(seconds=2))


def test_many_instances_are_listed_whole(store: CountingTable) -> None:
    for number in range(250):
        started(store, number)

    listed = found(store, Cut(size=1000), states=frozenset({ACTIVE}))

    assert (list(range(249, -1, -1)), 250, False) == listed


# --- jobs --------------------------------------------------------------------------------------


def jobs_found(
    store: CountingTable, cut: Cut | None = None, **wanted: object
) -> tuple[list[tuple[int, int]], int, bool]:
    """Return the jobs listed as instance number and offset, the total, and if it is a floor."""
    cut = cut or Cut(size=100, sort_by="key", ascending=True)
    listed: Listed[Job] = lists.list_jobs(store, WantedJobs(**wanted), cut)  # type: ignore[arg-type]
    origin = key_at(0)
    places = [divmod(job.key - origin, 4096) for job in listed.items]
    return places, listed.total, listed.is_floor


def job(offset: int, **changes: object) -> Job:
    return samples.job(key=offset, element_key=100 + offset, scope=50, **changes)


@pytest.fixture
def stocked(store: CountingTable) -> CountingTable:
    started(
        store,
        0,
        jobs=[
            job(2, state=JobState.COMPLETED, outputs={"x": "x" * 600}),
            job(4, inputs={"x": "x" * 600}, assignee="ann"),
            job(6, state=JobState.FAILED, type="ship"),
        ],
    )
    started(store, 1, jobs=[job(2, type="ship", assignee="bob"), job(4, owner="worker")])
    ended(store, started(store, 2, jobs=[job(2, state=JobState.TERMINATED)]))
    return store


def test_jobs_of_all_instances_are_listed(stocked: CountingTable) -> None:
    expected = [(0, 2), (0, 4), (0, 6), (1, 2), (1, 4), (2, 2)]
    backwards = Cut(size=100, sort_by="key")

    assert (expected, 6, False) == jobs_found(stocked)
    assert (expected[::-1], 6, False) == jobs_found(stocked, backwards)
    assert (expected[2:4], 6, False) == jobs_found(
        stocked, Cut(first=2, size=2, sort_by="key", ascending=True)
    )


def test_jobs_are_found_by_what_is_asked(stocked: CountingTable) -> None:
    open_states = frozenset({JobState.ACTIVE, JobState.FAILED})

    assert [(0, 4), (1, 2), (1, 4)] == jobs_found(stocked, states=frozenset({JobState.ACTIVE}))[0]
    assert [(0, 6)] == jobs_found(stocked, states=frozenset({JobState.FAILED}))[0]
    assert [(0, 4), (0, 6), (1, 2), (1, 4)] == jobs_found(stocked, states=open_states)[0]
    assert [(0, 2)] == jobs_found(stocked, states=frozenset({JobState.COMPLETED}))[0]
    assert [(2, 2)] == jobs_found(stocked, states=frozenset({JobState.TERMINATED}))[0]
    assert [(0, 6), (1, 2)] == jobs_found(stocked, type="ship")[0]
    assert [(0, 4)] == jobs_found(stocked, assignee="ann")[0]
    assert [(1, 2)] == jobs_found(stocked, type="ship", states=frozenset({JobState.ACTIVE}))[0]


def test_jobs_of_one_instance_are_found_by_any_key_of_it(stocked: CountingTable) -> None:
    assert [(1, 2), (1, 4)] == jobs_found(stocked, instance_key=key_at(1))[0]
    assert [(1, 2), (1, 4)] == jobs_found(stocked, instance_key=key_at(1) + 50, scope=50)[0]
    assert [] == jobs_found(stocked, instance_key=key_at(1), scope=51)[0]
    assert ([], 0, False) == jobs_found(stocked, instance_key=key_at(99))
    assert ([], 0, False) == jobs_found(stocked, instance_key=0)
    assert ([], 0, False) == jobs_found(stocked, instance_key=-1)


def test_listed_jobs_are_whole(stocked: CountingTable) -> None:
    cut = Cut(size=2, sort_by="key", ascending=True)

    first, second = lists.list_jobs(stocked, WantedJobs(), cut).items

    assert {"x": "x" * 600} == first.outputs == second.inputs


@pytest.mark.parametrize("sort_by", list(lists.JOB_ORDERS))
def test_jobs_are_sorted(stocked: CountingTable, sort_by: str) -> None:
    forth = jobs_found(stocked, Cut(size=100, sort_by=sort_by, ascending=True))[0]
    back = jobs_found(stocked, Cut(size=100, sort_by=sort_by))[0]

    assert forth == back[::-1]
    assert 6 == len(set(forth))


def test_open_jobs_are_found_without_looking_at_ended_instances(stocked: CountingTable) -> None:

    cut = Cut(size=100, sort_by="key", ascending=True, looks_max=19)

    assert ([(2, 2)], 1, True) == jobs_found(stocked, cut)
    assert 3 == jobs_found(stocked, cut, states=frozenset({JobState.ACTIVE}))[1]


def test_a_list_of_jobs_stops_at_its_bound_and_says_so(stocked: CountingTable) -> None:

    started(stocked, 9, jobs=[job(2 * n) for n in range(1, 13)])
    cut = Cut(looks_max=11)

    assert (11, True) == jobs_found(stocked, cut)[1:]
    total, is_floor = jobs_found(
        stocked, cut, states=frozenset({JobState.ACTIVE, JobState.FAILED})
    )[1:]
    assert (11, True) == (total, is_floor)


# --- incidents ---------------------------------------------------------------------------------


def test_the_incidents_of_an_instance_are_listed_and_nothing_else_is_read(
    store: CountingTable,
) -> None:
    first = samples.incident()
    second = samples.incident(key=first.key + 1, resolved_at=NOW)
    instances.commit(store, samples.start(samples.job(), second, first, samples.timer()))
    store.costs()

    assert [first, second] == lists.incidents_of(store, samples.KEY)
    assert [] == lists.incidents_of(store, samples.KEY + 4096)
    assert 2 == store.costs().read_units
