"""The costs follow what is counted, and what is counted follows what the app does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bench.costs import __main__ as printed
from bench.costs import peers, year
from bench.costs.account import Account
from bench.costs.cycles import XML, Counted, Shape, Worker, count, model
from bench.costs.prices import PRICES, Price
from bench.costs.units import Unit, times
from bench.costs.year import Size
from infra.package import ROOT

SIZE = Size("a few", 3_000_000, Worker.LAMBDA, batch=1)


@pytest.fixture(scope="module")
def job() -> Counted:
    return count(Worker.LAMBDA, 1)


def test_what_is_counted_of_a_job_is_what_the_tests_of_its_costs_count(job: Counted) -> None:
    assert pytest.approx(34 / 3) == job.at(Unit.WRITE_UNIT)  # test_costs.py of the store
    # A claim that loses to the end of its job: the bell of its lock comes back.
    assert pytest.approx(1 / 3 + 3) == job.at(Unit.HTTP_REQUEST) == job.at(Unit.LAMBDA_REQUEST)


def test_fuller_batches_need_fewer_requests() -> None:
    one, ten = (count(Worker.HTTP, batch) for batch in (1, 10))

    assert one.at(Unit.SQS_REQUEST) > 2 * ten.at(Unit.SQS_REQUEST)
    assert one.at(Unit.HTTP_REQUEST) > ten.at(Unit.HTTP_REQUEST)
    assert pytest.approx(one.at(Unit.WRITE_UNIT)) == ten.at(Unit.WRITE_UNIT)


def test_a_timer_of_an_hour_takes_one_schedule_an_instance() -> None:
    timed = count(Worker.LAMBDA, 1, shape=Shape.TIMED)

    assert pytest.approx(1 / 3) == timed.at(Unit.SCHEDULE)


def test_a_retention_costs_writes_that_are_counted(job: Counted) -> None:
    kept = count(Worker.LAMBDA, 1, ttl_s=30 * 86_400)

    assert kept.at(Unit.WRITE_UNIT) > job.at(Unit.WRITE_UNIT)


@pytest.mark.parametrize("unit", [Unit.WRITE_UNIT, Unit.SQS_REQUEST, Unit.LOG_GB])
def test_a_change_of_what_is_counted_changes_the_costs(job: Counted, unit: Unit) -> None:
    more = replace(job, use={**job.use, unit: 2 * job.at(unit)})

    added = year.per_million(SIZE, Unit.HTTP_REQUEST, more) - year.per_million(
        SIZE, Unit.HTTP_REQUEST, job
    )

    assert job.at(unit) * 1_000_000 * PRICES[unit].of(1) == pytest.approx(added, rel=0.05)


def test_what_is_stored_for_ever_costs_more_month_by_month(job: Counted) -> None:
    stored = [month.use[Unit.TABLE_GB] for month in year.months(SIZE, job)]
    kept = [month.use[Unit.TABLE_GB] for month in year.months(replace(SIZE, kept_days=30), job)]

    assert sorted(stored) == stored
    assert pytest.approx(11.5 / 0.5) == stored[-1] / stored[0]
    assert kept[1] == kept[-1] < stored[-1]


def test_an_account_stores_what_its_instances_leave() -> None:
    with Account().opened() as account:
        before = account.stored()
        account.call("POST", "/v1/process-definitions", model(Shape.PLAIN), **XML)

        assert account.stored().live > before.live
        assert account.used()[Unit.WRITE_UNIT] > 0


def test_tiers_cost_what_lies_in_each() -> None:
    price = Price(((10, 2.0), (float("inf"), 1.0)), 1, "a page")

    assert 0 == price.of(0)
    assert 20 + 5 == price.of(15)


@pytest.mark.parametrize(
    ("peer", "dollars"),
    [
        (peers.STEP_FUNCTIONS, 33.33),  # four transitions of three tasks, 25 dollars a million
        (peers.DURABLE, 10.67),  # four operations, 8 dollars a million
        (peers.TEMPORAL, 73.33),  # four actions, 50 dollars a million, and a tenth for the plan
    ],
)
def test_what_peers_cost_is_their_units_and_little_more(
    job: Counted, peer: str, dollars: float
) -> None:
    small = replace(SIZE, jobs=30_000)

    per_million = peers.cost(peer, small, job) / (small.jobs * year.MONTHS) * 1_000_000

    assert dollars - 0.01 <= per_million < dollars * 1.1


def test_every_unit_that_is_used_has_a_price_and_each_price_a_page(job: Counted) -> None:
    assert set(Unit) == set(PRICES)
    assert all(price.page for price in PRICES.values())
    assert times(job.use, 2).keys() <= PRICES.keys()


def test_the_readme_says_what_is_computed() -> None:
    """Within a tenth, so that a line of the log more does not change the page."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = text.partition("### What it costs")[2].splitlines()
    rows = [
        line.strip("|").split("|")[1:] for line in lines if re.match(r"\| (?:[0-9,]+|one)", line)
    ]
    said = [[float(cell.replace(",", "")) for cell in row] for row in rows]

    computed = printed.readme_rows()

    assert len(said) == len(computed) == 4
    for row, known in zip(said, computed, strict=True):
        assert [pytest.approx(each, rel=0.1) for each in known] == row


def test_tables_line_up() -> None:
    assert ["   b", "----", "a  1"] == printed.table(["", "b"], [["a", "1"]])
