from __future__ import annotations

from decimal import Decimal

import pytest

from chalicelib.engine.guards import Guard
from chalicelib.engine.keys import FIRST_BLOCK, first_key
from chalicelib.engine.state import (
    Instance,
    InstanceState,
    Job,
    JobState,
    RecordKey,
    Timer,
    Variables,
    key_of,
)
from chalicelib.engine.turn import Turn
from chalicelib.errors import TooLarge
from chalicelib.ports import Put, Update
from chalicelib.store import instances, jobs, retention, table
from tests.fakes.table import MemoryTable
from tests.store import samples
from tests.store.samples import JOB, KEY, NOW

EVERYTHING = None
JOB_KEY = RecordKey(Job, JOB)
TOP = RecordKey(Variables, KEY)


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def loaded(store: MemoryTable) -> Instance:
    instance = instances.load(store, KEY, EVERYTHING)
    assert instance is not None
    return instance


def after(turn: Turn) -> tuple[object, object]:
    return turn.after.root, dict(turn.after.records)


def test_what_was_started_is_loaded_as_it_was(store: MemoryTable) -> None:
    turn = samples.start(samples.job(), samples.timer(), samples.variables(amount=Decimal("1.50")))

    assert instances.commit(store, turn)

    found = loaded(store)
    assert after(turn) == (found.root, found.records)


def test_an_instance_that_is_not_there_is_none(store: MemoryTable) -> None:
    assert instances.load(store, KEY) is None


def test_any_key_of_an_instance_leads_to_it(store: MemoryTable) -> None:
    instances.commit(store, samples.start())

    found = instances.load(store, JOB)

    assert found is not None and found.key == KEY


def test_keys_of_a_further_block_lead_to_the_instance(store: MemoryTable) -> None:
    far = samples.job(key=first_key(FIRST_BLOCK + 5) + 1)
    turn = samples.start(far, samples.variables())._replace(blocks=(FIRST_BLOCK + 5,))
    instances.commit(store, turn)

    found = instances.load(store, far.key, [key_of(far)])

    assert found is not None and found.key == KEY
    assert far == found.records[key_of(far)]
    assert {far.key: far} == jobs.read(store, [far.key])


def test_only_what_is_wanted_is_read_and_the_rest_is_named_absent(store: MemoryTable) -> None:
    instances.commit(store, samples.start(samples.job(), samples.timer()))
    nobody = RecordKey(Job, KEY + 99)

    found = instances.load(store, KEY, [JOB_KEY, nobody])

    assert found is not None
    assert {JOB_KEY} == found.records.keys()
    assert frozenset({nobody}) == found.absent


def test_what_is_wanted_may_depend_on_the_root(store: MemoryTable) -> None:
    instances.commit(store, samples.start())

    found = instances.load(
        store, KEY, lambda root: [RecordKey(Job, each.job or 0) for each in root.live.values()]
    )

    assert found is not None and JOB_KEY in found.records


def test_more_is_read_and_joined_to_what_is_known(store: MemoryTable) -> None:
    instances.commit(store, samples.start(samples.job(), samples.timer(), samples.variables()))
    found = instances.load(store, KEY)
    assert found is not None and {TOP} == found.records.keys()

    found = instances.read_more(store, found, [JOB_KEY, RecordKey(Timer, samples.timer().key)])

    assert {TOP, JOB_KEY, key_of(samples.timer())} == found.records.keys()


def test_an_instance_is_current_until_somebody_moves_it(store: MemoryTable) -> None:
    instances.commit(store, samples.start())
    before = loaded(store)
    assert instances.is_current(store, before)

    instances.commit(store, samples.then(before))

    assert not instances.is_current(store, before)


def test_of_two_turns_on_one_version_the_second_is_refused_and_writes_nothing(
    store: MemoryTable,
) -> None:
    instances.commit(store, samples.start())
    before = loaded(store)
    first = samples.then(before, samples.variables(who="first"), turn_id="a")
    second = samples.then(before, samples.variables(who="second"), turn_id="b")

    assert instances.commit(store, first)
    assert not instances.commit(store, second)

    assert after(first) == (loaded(store).root, loaded(store).records)


def test_the_same_turn_committed_again_is_done_once(store: MemoryTable) -> None:
    turn = samples.start()

    assert instances.commit(store, turn)
    assert instances.commit(store, turn)
    assert not instances.commit(store, samples.start(turn_id="other"))


def test_a_turn_that_changes_nothing_writes_nothing(store: MemoryTable) -> None:
    before = samples.start().after

    assert instances.commit(store, Turn(before, before, NOW))

    assert instances.load(store, KEY) is None


def test_a_claim_between_reading_and_completing_stays(store: MemoryTable) -> None:
    instances.commit(store, samples.start())
    before = loaded(store)
    claimed = jobs.claim(store, samples.job(), jobs.Lock("worker", NOW), now=NOW)
    done = samples.job()._replace(state=JobState.COMPLETED, outputs={"paid": True})

    turn = samples.then(before, done, guards={JOB_KEY: Guard.COMPLETE})
    assert instances.commit(store, turn)

    assert isinstance(claimed, Job)
    expected = claimed._replace(state=JobState.COMPLETED, outputs={"paid": True})
    assert expected == loaded(store).records[JOB_KEY]


def test_a_completion_is_refused_once_the_job_is_not_active(store: MemoryTable) -> None:
    instances.commit(store, samples.start())
    before = loaded(store)
    place = table.record_key(KEY, table.JOB, JOB)
    store.write(Update(place, set={"state": JobState.FAILED.value}))
    done = samples.job()._replace(state=JobState.COMPLETED)

    assert not instances.commit(store, samples.then(before, done, guards={JOB_KEY: Guard.COMPLETE}))


def test_variables_move_between_the_root_and_an_item_of_their_own(store: MemoryTable) -> None:
    instances.commit(store, samples.start(samples.variables(text="small")))
    place = table.record_key(KEY, table.VARIABLES, KEY)
    assert store.get(place) is None

    instances.commit(store, samples.then(loaded(store), samples.variables(text="x" * 600)))
    assert store.get(place) is not None
    assert {"text": "x" * 600} == loaded(store).records[TOP].values  # type: ignore[union-attr]

    instances.commit(
        store, samples.then(loaded(store), samples.variables(text="again"), turn_id="t3")
    )
    assert store.get(place) is None
    assert {"text": "again"} == loaded(store).records[TOP].values  # type: ignore[union-attr]


def test_large_variables_are_read_only_when_wanted(store: MemoryTable) -> None:
    instances.commit(store, samples.start(samples.variables(text="x" * 600)))

    without = instances.load(store, KEY)
    found = instances.load(store, KEY, [TOP])

    assert without is not None and TOP not in without.records
    assert found is not None and samples.variables(text="x" * 600) == found.records[TOP]


def test_records_that_are_gone_are_deleted(store: MemoryTable) -> None:
    timer = samples.timer()
    instances.commit(store, samples.start(samples.job(), timer))

    instances.commit(store, samples.then(loaded(store), gone=(key_of(timer),)))

    assert {JOB_KEY} == loaded(store).records.keys()


@pytest.mark.parametrize("bound", ["root", "item", "writes", "turn"])
def test_a_turn_that_passes_a_bound_is_too_large_and_says_which(bound: str) -> None:
    turn, words = {
        "root": (samples.start(business_key="b" * 100_001), "100000 bytes in the state"),
        "item": (
            samples.start(samples.variables(x="x" * 350_001)),
            f"350000 bytes in the variables of scope {KEY}, found",
        ),
        "writes": (
            samples.start(*(samples.timer(key=KEY + 10 + n) for n in range(95))),
            "90 writes a turn, found 97",
        ),
        "turn": (
            samples.start(*(Variables(KEY + n, {"x": "x" * 340_000}) for n in range(1, 11))),
            "3000000 bytes a turn",
        ),
    }[bound]

    with pytest.raises(TooLarge, match=words) as caught:
        instances.measure(turn)

    assert str(KEY) in caught.value.message
    assert "#" not in caught.value.message  # no key of the table, which callers do not know


def test_variables_that_could_not_be_read_again_are_too_large() -> None:
    deep: list[object] = []
    for _ in range(600):
        deep = [deep]

    with pytest.raises(TooLarge, match="levels"):
        instances.measure(samples.start(samples.variables(deep=deep)))


def test_what_ends_with_a_retention_expires_fifteen_days_after_the_end_at_the_earliest(
    store: MemoryTable,
) -> None:
    instances.commit(store, samples.start(time_to_live=samples.seconds(60)))
    ended = samples.then(loaded(store), state=InstanceState.COMPLETED, ended_at=NOW, live={})
    instances.commit(store, ended)

    at = int(NOW.timestamp()) + 15 * 86_400
    written = [write for write in instances.measure(ended) if isinstance(write, Put)]
    assert {at} == {write.item["expires_at"] for write in written}
    *others, last = [place for place, _ in retention.left(store, ended.after.root, at)]
    assert others
    assert table.root_key(KEY) == last
    for place in (*others, last):
        retention.give(store, place, at)
    assert [] == list(retention.left(store, ended.after.root, at))
