"""Every drawn example runs to its end, whoever its workers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib import bpmn
from chalicelib.bpmn.model import Kind
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from tests.play import DIAGRAMS, play, to_json

VARIABLES = to_json(
    {
        "invoice": "i-1",
        **{"amount": 500, "method": "card", "kilograms": 2, "price": 9, "parcel": {"id": 1}},
        "order": {"id": 1, "amount": 20, "items": ["book"]},
    }
)
RESULTS = to_json({"risk": 80, "gift": True, "receipt": {"id": 7}, "delivered": True, **VARIABLES})
STEPS_MAX = 100


@pytest.mark.parametrize("diagram", sorted(DIAGRAMS.glob("*.bpmn")), ids=lambda path: path.stem)
@pytest.mark.parametrize("patience", ["at once", "too late"])
def test_a_drawn_example_runs_to_its_end(diagram: Path, patience: str) -> None:
    """Workers come at once, or only when every timer has fired."""
    (process,) = bpmn.parse(diagram.read_bytes(), Profile.ZENBPM)
    started = [e for e in process.elements.values() if e.kind is Kind.START_EVENT]
    game = play(process)
    game.create(VARIABLES) if process.start else game.start_at(started[0].id, **VARIABLES)

    for _ in range(STEPS_MAX):
        if game.timers and (patience == "too late" or not game.jobs):
            game.wait((min(t.due for t in game.timers) - game.now).total_seconds())
        elif game.jobs:
            game.send(CompleteJob(game.jobs[0].key, RESULTS, kind=game.jobs[0].kind))
        elif game.subscriptions:
            game.publish(game.subscriptions[0].name)

    assert [] == game.incidents
    assert InstanceState.COMPLETED == game.state
