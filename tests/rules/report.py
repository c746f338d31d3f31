"""Print which rules of the contracts have a test: `make rules`.

Without the folder of the contracts (HEADRACE_SHARED) the rules that are marked are listed alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.rules.collect import in_order, marked_tests
from tests.rules.contracts import CONTRACTS, Contract, folder, not_applicable, rules

TEXT_MAX = 76  # characters of a rule's text that fit on its line


def main() -> int:
    """Print the report; 1 if a mark names a rule that no contract has."""
    tests, place = marked_tests(), folder()
    for line in report(tests, place):
        sys.stdout.write(f"{line}\n")
    return 1 if list(strangers(tests, place)) else 0


def report(tests: Mapping[str, Sequence[str]], place: Path) -> Iterator[str]:
    """Yield the lines of the report."""
    if not place.is_dir():
        yield f"The contracts are not at {place}; these rules are marked:"
        yield from _listed(tests)
        return
    for contract in CONTRACTS:
        yield from _contract(contract, tests, place)
        yield ""
    for rule in strangers(tests, place):
        yield f"No contract has {rule}, which is marked at {', '.join(tests[rule])}"


def strangers(tests: Mapping[str, Sequence[str]], place: Path) -> Iterator[str]:
    """Yield the rules that are marked but that no contract has."""
    if place.is_dir():
        known = {rule for contract in CONTRACTS for rule in rules(contract, place)}
        yield from sorted(tests.keys() - known, key=in_order)


def _contract(contract: Contract, tests: Mapping[str, Sequence[str]], place: Path) -> Iterator[str]:
    texts, exempt = rules(contract, place), not_applicable(contract, place)
    shown = {rule: tests[rule] for rule in texts if rule in tests}
    missing = {rule: text for rule, text in texts.items() if rule not in shown.keys() | exempt}
    yield (
        f"{contract.title} ({contract.file}): {len(texts)} rules, {len(shown)} shown by a test, "
        f"{len(missing)} not yet, {len(exempt.keys() - shown.keys())} not applicable"
    )
    yield "  shown:"
    yield from _listed(shown)
    yield "  not yet:"
    yield from (f"    {rule:5} {_cut(text)}" for rule, text in missing.items())
    if exempt:
        yield "  not applicable:"
        yield from (
            f"    {rule:5} {reason or 'section 9 does not say why'}"
            for rule, reason in sorted(exempt.items(), key=lambda pair: in_order(pair[0]))
            if rule not in shown
        )


def _listed(tests: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for rule in sorted(tests, key=in_order):
        first, *more = tests[rule]
        yield f"    {rule:5} {first}" + (f" and {len(more)} more" if more else "")


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"


if __name__ == "__main__":
    sys.exit(main())
