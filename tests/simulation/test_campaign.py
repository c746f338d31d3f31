"""A campaign runs every pair once; one that has not the time for all says which it did not run."""

from __future__ import annotations

import re

import pytest

from tests.simulation import runner
from tests.simulation.__main__ import main
from tests.simulation.campaign import ROUNDS, Count, Task, pairs_tasks
from tests.simulation.mutations import mutations
from tests.simulation.runner import Tally
from tests.simulation.scenarios import SCENARIOS

FEW = "sixty-four"  # of whose strikes there are few


def test_a_round_has_a_part_of_each_scenario_and_all_rounds_have_each_part_once() -> None:
    names = ["call", "net", "cycle"]
    tasks = pairs_tasks(names, turn=7)

    assert sorted(names) == sorted(task.scenario for task in tasks[:3])
    assert 1 == len({task.part for task in tasks[:3]})
    assert {Task("pairs", name, part) for name in names for part in range(ROUNDS)} == set(tasks)
    assert len(names) * ROUNDS == len(tasks)


def test_another_turn_begins_with_another_part_and_another_scenario() -> None:
    first, second = (pairs_tasks(["call", "net"], turn)[0] for turn in (4, 5))
    assert ((4, "call"), (5, "net")) == tuple((t.part, t.scenario) for t in (first, second))


def test_all_parts_together_run_all_pairs_there_are() -> None:
    whole = runner.pairs(SCENARIOS[FEW], 0, 1, seconds=0.0)
    parts = [runner.pairs(SCENARIOS[FEW], part, 3) for part in range(3)]

    assert whole.possible == sum(tally.possible for tally in parts) > 0
    assert [tally.possible for tally in parts] == [tally.runs for tally in parts]


def test_pairs_for_which_there_is_no_time_are_counted_and_not_run() -> None:
    tally = runner.pairs(SCENARIOS[FEW], 0, 1, seconds=0.0)
    count = Count()
    count.add(Task("pairs", FEW, 0), tally)
    count.add(Task("pairs", "call", 0), Tally(runs=9, possible=9))

    assert (0, True) == (tally.runs, tally.possible > 0)
    assert [f"{FEW} ({tally.possible})"] == count.unrun()


def test_the_command_of_a_broken_pair_shows_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    mutation = next(each for each in mutations() if each.name == "promise before commit, of a turn")
    name = mutation.scenarios[0]
    with mutation.apply():
        failures = runner.pairs(SCENARIOS[name], 3, 40).failures
        said = str(failures[0]).splitlines()[0]
        assert 1 == main(said.removeprefix("python -m tests.simulation ").split())

    struck = re.search(r"--strikes (\S+)", said)
    assert struck and struck[1].count(":") == 2
    assert f"struck as asked for: {struck[1]}\n" in capsys.readouterr().out


def test_a_strike_at_no_call_of_the_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    strikes = "0:lost-request,9999:duplicate"
    main(["--scenario", "sequence", "--strikes", strikes])
    assert f"asked for {strikes}, struck 0:lost-request\n" in capsys.readouterr().out
