"""`python -m tests.simulation`: all of it with the count, or one run again with its trace."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from tests.simulation import campaign
from tests.simulation.faults import Plan, Strike
from tests.simulation.scenario import play
from tests.simulation.scenarios import SCENARIOS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 if an invariant was broken or a mutation was not caught."""
    asked = _parser().parse_args(arguments)
    if asked.all:
        began = time.monotonic()
        is_right = campaign.run_all(asked.jobs, asked.minutes * 60, asked.turn, asked.only, say)
        say(f"{time.monotonic() - began:.0f} seconds")
        return 0 if is_right else 1
    if asked.scenario is None:
        _parser().print_help()
        return 2
    return _replay(asked)


def _replay(asked: argparse.Namespace) -> int:
    """Run one plan with its trace, and say what it broke."""
    plan = Plan(asked.seed, _strikes(asked.strikes), asked.rate)
    outcome = play(SCENARIOS[asked.scenario], plan, say)
    for violation in outcome.violations:
        say(f"broken: {violation}")
    say(_struck(",".join(f"{i}:{s}" for i, s in plan.strikes.items()), ",".join(outcome.struck)))
    say(f"{outcome.calls} calls, {len(outcome.violations)} invariants broken")
    return 1 if outcome.violations else 0


def _struck(asked: str, struck: str) -> str:
    """Say whether all took place that was asked for: a call may have another number by now."""
    if asked and struck != asked:
        return f"asked for {asked}, struck {struck or 'nothing'}"
    return f"struck as asked for: {struck}" if asked else f"struck {struck or 'nothing'}"


def _strikes(text: str) -> dict[int, Strike]:
    pairs = (pair.split(":") for pair in text.split(",") if pair)
    return {int(index): Strike(strike) for index, strike in pairs}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.simulation", description=__doc__)
    parser.add_argument("--all", action="store_true", help="run everything and print the count")
    name, names = "SCENARIO", sorted(SCENARIOS)
    parser.add_argument("--only", nargs="+", default=(), choices=names, metavar=name, help="of all")
    parser.add_argument("--jobs", type=int, default=2, help="processes to use")
    parser.add_argument("--minutes", type=float, default=16.0, help="for pairs, from the start")
    parser.add_argument("--turn", type=int, default=_today(), help="which pairs come first")
    parser.add_argument("--scenario", choices=names, metavar=name)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=0.0, help="of calls struck at random")
    parser.add_argument("--strikes", default="", help="by call: 31:crash-after,40:duplicate")
    return parser


def _today() -> int:
    """Return a number that is another one each day."""
    return datetime.now(UTC).toordinal()


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
