"""Incidents say why an expression gave null, as far as FEEL knows."""

from __future__ import annotations

import pytest

from tests.engine.models import end, exclusive, line, process, rule, service, start
from tests.play import play


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("amount > 5", "found null (no variable 'amount'; "),
        ("name > 5", "found null (string and number do not compare)"),
        ("name", 'found "a"'),
    ],
)
def test_a_condition_that_is_no_boolean_says_why(condition: str, reason: str) -> None:
    flows = f"start > g; g > a: {condition}; g > b"
    parts = (start(), exclusive("g", "g-b"), service("a"), service("b"), end())
    game = play(process(*parts, flows=f"{flows}; a > end; b > end")).create(name="a")

    (incident,) = game.incidents
    assert reason in incident.message


@pytest.mark.parametrize(
    ("element", "place"),
    [
        (service("a", "=kind"), "job type of a"),
        (rule("a", "=kind"), "decisionId of a"),
    ],
)
def test_a_text_that_is_missing_says_which_variable(element: str, place: str) -> None:
    (incident,) = play(line(element)).create().incidents

    assert (
        f"{place}: expected a text that is not empty, found null (no variable 'kind')"
        == incident.message
    )


def test_many_reasons_are_cut_short() -> None:
    names = " + ".join(f"{'x' * 200}{n}" for n in range(9))
    (incident,) = play(line(service("a", f"={names}"))).create().incidents

    assert incident.message.endswith("...)") and len(incident.message) < 400
