"""The store on (emulated) DynamoDB: the same stories as in memory, and races between threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from chalicelib.engine.commands import SetVariables
from chalicelib.engine.decided import DecisionMade, Evaluated
from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.ports import Table
from chalicelib.profile import Profile
from chalicelib.store import (
    blocks,
    definitions,
    dmn_decisions,
    dmn_definitions,
    dmn_lists,
    failures,
    instances,
    jobs,
    lists,
    rows,
)
from chalicelib.store.dmn_lists import WantedDecisions
from chalicelib.store.jobs import Lock, Lost
from chalicelib.store.lists import Cut, WantedInstances, WantedJobs
from tests.contract.tables import on_dynamodb
from tests.play import NOW, Play, load
from tests.store import samples
from tests.store.samples import JOB, KEY
from tests.store.test_definitions import CHANGED, OTHER, XML, deployment
from tests.store.test_dmn_definitions import XML as DMN
from tests.store.test_dmn_definitions import deployment as dmn_deployment
from tests.store.test_jobs import failed
from tests.store.test_turns import Stored

pytestmark = pytest.mark.aws
LARGE = "x" * 100_000


@pytest.fixture
def store(emulated_aws: str) -> Iterator[Table]:
    yield from on_dynamodb(emulated_aws)


def stored_play(store: Table, source: str, profile: Profile = Profile.PRIOSTACK) -> Play:
    game = Stored(load(source, profile), profile)
    game.store = store
    return game


@pytest.mark.parametrize("text", ["small", LARGE], ids=["small", "large"])
def test_an_instance_with_a_subprocess_is_stored_turn_by_turn(store: Table, text: str) -> None:
    game = stored_play(store, "subprocess.bpmn").create(text=text)
    while game.state is InstanceState.ACTIVE:
        if game.jobs:
            game.complete(game.jobs[0].element_id, result=text)
        else:
            game.wait(60)

    listed = lists.list_instances(store, WantedInstances(), Cut())
    assert [(game.root, 1)] == [
        (each.root._replace(turn_id=""), listed.total) for each in listed.items
    ]
    history = rows.list_history(store, game.root.key, Cut(size=1000, ascending=True))
    assert game.path == [row.element_id for row in history.items if not row.is_flow]
    found = lists.list_jobs(store, WantedJobs(), Cut(size=100, sort_by="key", ascending=True))
    assert list(game.records(Job)) == list(found.items)


def test_timers_and_cancelled_instances_are_stored(store: Table) -> None:
    game = stored_play(store, "boundary_timer.bpmn").create()
    game.cancel()

    open_ones = WantedInstances(states=frozenset({InstanceState.ACTIVE}))
    assert 0 == lists.list_instances(store, open_ones, Cut()).total


def test_a_job_lives_its_life(store: Table) -> None:
    instances.commit(
        store, samples.start(samples.job(retries=3, inputs={"x": LARGE}), turn_id=uuid4().hex)
    )
    job = jobs.read(store, [JOB])[JOB]
    now, until = samples.NOW, samples.NOW + timedelta(seconds=30)

    claimed = jobs.claim(store, job, Lock("a", until, until - now), now=now)
    assert isinstance(claimed, Job) and {"x": LARGE} == claimed.inputs
    assert Lost(claimed) == jobs.claim(store, job, Lock("b", until), now=now)
    longer = jobs.extend(store, claimed, "a", until + timedelta(seconds=5), now=now, token=1)
    assert isinstance(longer, Job)
    assert isinstance(jobs.assign(store, longer, "ann"), Job)
    after, row = failed(longer._replace(assignee="ann"))
    assert after == jobs.record_retried_failure(store, longer, after, row, token=uuid4().hex)
    assert [row] == failures.newest(store, after)
    assert {JOB: after} == jobs.read(store, [JOB])


def test_of_racing_claims_and_completions_each_happens_once(store: Table) -> None:
    instances.commit(store, samples.start(turn_id=uuid4().hex))
    now, until = samples.NOW, samples.NOW + timedelta(seconds=30)

    def claim(who: int) -> Job | Lost:
        return jobs.claim(store, samples.job(), Lock(f"w{who}", until), now=now)

    def complete(who: int) -> bool:
        before = instances.load(store, KEY, None)
        assert before is not None
        (job,) = (record for record in before.records.values() if isinstance(record, Job))
        if job.state is not JobState.ACTIVE:
            return False
        done = job._replace(state=JobState.COMPLETED, outputs={"by": str(who)})
        return instances.commit(store, samples.then(before, done, turn_id=uuid4().hex))

    with ThreadPoolExecutor(8) as pool:
        claims = pool.map(claim, range(8))
        completions = pool.map(complete, range(8))
        assert 1 == sum(isinstance(each, Job) for each in claims)
        assert 1 == sum(completions)
    job = jobs.read(store, [JOB])[JOB]
    assert (JobState.COMPLETED, 1) == (job.state, job.delivery_token)


def test_of_racing_turns_of_one_instance_none_is_lost(store: Table) -> None:
    game = stored_play(store, "one_task.bpmn").create()

    def change(who: int) -> None:
        for _ in range(50):
            before = instances.load(store, game.root.key, None)
            assert before is not None
            own = Play(game.process, Profile.PRIOSTACK, game.limits, NOW)
            own.instance = before
            turn = own.turn(SetVariables({f"v{who}": True}))
            if instances.commit(store, turn.stamped(uuid4().hex)):
                return
        raise AssertionError("it lost 50 times")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(change, range(6)))

    game.instance = instances.load(store, game.root.key, None)
    assert {f"v{who}" for who in range(6)} == set(game.variables)


def test_of_racing_deployments_each_gets_a_version_of_its_own(store: Table) -> None:
    def deploy(number: int) -> int:
        made = deployment((XML, CHANGED, OTHER)[number % 2])
        made = replace(made, fingerprint=f"file {number}")
        deployed = definitions.deploy(store, made, now=NOW, token=uuid4().hex)
        return deployed.definitions[0].version

    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(deploy, range(6)))

    assert list(range(1, 7)) == sorted(versions)
    (info, *_) = definitions.list_all(store)
    assert XML == definitions.xml(store, info.key) or CHANGED == definitions.xml(store, info.key)


def test_racing_containers_take_no_block_twice(store: Table) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(blocks.take, [store] * 300))

    assert 300 == len(set(taken))


def test_dmn_files_and_decisions_are_kept_found_and_listed(store: Table) -> None:
    info, is_new = dmn_definitions.deploy(
        store, dmn_deployment(store, DMN), now=NOW, token=uuid4().hex
    )
    found = dmn_definitions.latest_of(store, "discount", Profile.ZENBPM)
    assert is_new and found is not None and info.key == found.key

    audit = ({"id": "discount", "output": Decimal("1.50")},)
    first = DecisionMade(
        KEY, "discount", info.key, "discounts", NOW, Evaluated(Decimal(5), audit), KEY, KEY, "a", 1
    )
    later = first._replace(
        key=KEY + 4096, at=NOW + timedelta(seconds=1), instance_key=0, scope=0, element_id=""
    )
    for made in (first, later):
        dmn_decisions.keep(store, made, None)

    assert first == dmn_decisions.get(store, first.key)
    wanted = WantedDecisions(definition_keys=frozenset({info.key}))
    assert [later, first] == list(dmn_lists.find(store, wanted, Cut()).items)
    before = WantedDecisions(decided_to=NOW)
    assert [first] == list(dmn_lists.find(store, before, Cut()).items)
