"""Every guard is taken out somewhere, or it is said why it cannot be missed."""

from __future__ import annotations

import pytest

from chalicelib.store.conditions import GUARDS
from tests.simulation.mutations import COVERED, IDLE, NOTICED_BY, attempt, clauses, mutations
from tests.simulation.scenarios import SCENARIOS

QUICK = (
    "promise before commit, of a turn",
    "promise before commit, of a claim",
    "promise before commit, of a failure",
    "claim before its bell is deleted",
    "keeping an early bell",
    "client cap: version as read",
)
QUICK_RUNS_MAX = 60


def test_the_exceptions_name_clauses_that_exist() -> None:
    known = {(guard, name) for guard, names in clauses().items() for name in names}
    partners = {partner for _, others in COVERED.values() for partner in others}

    assert set() == (COVERED.keys() | IDLE.keys() | partners) - known
    assert set() == COVERED.keys() & IDLE.keys()


def test_every_row_with_a_clause_to_miss_has_a_scenario() -> None:
    rows = {g for g, names in clauses().items() if any((g, name) not in IDLE for name in names)}
    assert set() == rows - NOTICED_BY.keys()


def test_mutations_have_names_of_their_own_and_scenarios_that_exist() -> None:
    names = [mutation.name for mutation in mutations()]

    assert len(set(names)) == len(names)
    assert set() == {name for each in mutations() for name in each.scenarios} - SCENARIOS.keys()


def test_a_mutation_is_over_when_it_was_tried() -> None:
    whole = dict(GUARDS)
    attempt("turn: version as read", runs_max=1)
    assert whole == GUARDS


@pytest.mark.parametrize("name", QUICK)
def test_what_is_taken_away_is_missed(name: str) -> None:
    _, failure, runs = attempt(name, QUICK_RUNS_MAX)
    assert failure is not None, f"not noticed in {runs} runs"
