"""The shell hands its clock to what is evaluated: no expression of a model holds a function."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from chalicelib.engine.state import Incident
from chalicelib.errors import Rejected
from tests.dmn.models import decision, definitions, literal
from tests.engine.models import line, rule, script, service
from tests.fakes.clock import ManualClock
from tests.operations.dmn import deploy_dmn, evaluate
from tests.operations.stage import Stage

SLOW = "count(for i in 1..1000, j in 1..100 return i)"
TOO_LONG = "the evaluation takes more than 2 seconds"


class TickingClock(ManualClock):
    """Time goes on a bit whenever somebody looks."""

    def now(self) -> datetime:
        self._now += timedelta(seconds=0.1)
        return self._now


@pytest.fixture
def stage() -> Stage:
    return Stage(clock=TickingClock())


def incident_of(stage: Stage, key: int) -> Incident:
    records = stage.instance(key).records.values()
    (found,) = (record for record in records if isinstance(record, Incident))
    return found


def test_an_expression_of_a_process_that_takes_too_long_is_an_incident(stage: Stage) -> None:
    key = stage.create(line(script("a", "x", SLOW), service("b")))

    assert TOO_LONG in incident_of(stage, key).message


def test_a_decision_of_a_process_that_takes_too_long_is_an_incident(stage: Stage) -> None:
    deploy_dmn(stage, definitions(decision("d", literal(SLOW))))
    key = stage.create(line(rule("a", "d"), service("b")))

    assert TOO_LONG in incident_of(stage, key).message


def test_a_decision_of_a_caller_that_takes_too_long_is_refused(stage: Stage) -> None:
    deploy_dmn(stage, definitions(decision("d", literal(SLOW))))

    with pytest.raises(Rejected, match=f"decision d: .*{TOO_LONG}"):
        evaluate(stage, "d")
