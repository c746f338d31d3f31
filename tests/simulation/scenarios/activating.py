"""Ad-hoc subprocesses: what is activated by a list, by a caller and by a worker, and their ends."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.engine.job_results import Activation, AdHocResult
from chalicelib.engine.state import Job
from tests.simulation import expectations, operators
from tests.simulation.clients import cancelling, one_start
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

BOTH = AdHocResult((Activation("inspect"), Activation("ask")))
STEERED = Edit("<zeebe:adHoc ", '<zeebe:taskDefinition type="agent" /><zeebe:adHoc ')
THRICE = Edit("&#34;ask&#34;]", "&#34;ask&#34;, &#34;ask&#34;]")
BY_TURNS = Edit('name="Settle the claim"', 'name="Settle the claim" ordering="Sequential"')
TIMED = Edit(
    "</bpmn:adHocSubProcess>",
    '</bpmn:adHocSubProcess><bpmn:boundaryEvent id="late" attachedToRef="claim">'
    "<bpmn:timerEventDefinition><bpmn:timeDuration>PT30S</bpmn:timeDuration>"
    "</bpmn:timerEventDefinition></bpmn:boundaryEvent>",
)


def decides(job: Job) -> AdHocResult | None:
    """Order both steps, wait for both, and be done."""
    findings = job.inputs["findings"]
    assert isinstance(findings, list)
    if not findings:
        return BOTH
    return AdHocResult(is_fulfilled=True) if len(findings) > 1 else None


AGENT = Habits(work_ms=50, orders=decides)


def _listed(stage: Stage) -> None:
    """What the model lists is worked on at the same time, until the condition holds."""
    one_start(stage)
    hire(stage, "worker of inspect", "inspect")
    hire(stage, "worker of ask", "ask")


def _activated(stage: Stage) -> None:
    """A caller activates one more at the moment the condition comes to hold."""
    _listed(stage)
    stage.client("caller", lambda: operators.activate(stage, "claim", "ask"), after_ms=212)


def _steered(stage: Stage) -> None:
    """A worker orders both steps, and is asked after each."""
    one_start(stage)
    hire(stage, "agent", "agent", AGENT)
    hire(stage, "worker of inspect", "inspect")
    hire(stage, "worker of ask", "ask")


def _steered_and_cancelled(stage: Stage) -> None:
    """The instance is cancelled while the worker orders."""
    one_start(stage, cancelling(stage, 60))
    hire(stage, "agent", "agent", AGENT)
    hire(stage, "worker of inspect", "inspect")
    hire(stage, "worker of ask", "ask")


def _steered_and_interrupted(stage: Stage) -> None:
    """The worker orders at the second in which the ad-hoc subprocess is interrupted."""
    one_start(stage)
    late = Habits(lock=timedelta(seconds=60), work_ms=29_985, orders=decides)
    hire(stage, "agent", "agent", late)
    hire(stage, "worker of inspect", "inspect")
    hire(stage, "worker of ask", "ask")


SCENARIOS = (
    Scenario("ad-hoc-listed", "ad_hoc.bpmn", _listed, expect=expectations.activated_as_listed),
    Scenario("ad-hoc-cancels-one", "ad_hoc.bpmn", _listed, (THRICE,)),
    Scenario("ad-hoc-by-turns", "ad_hoc.bpmn", _listed, (BY_TURNS,)),
    Scenario(
        "ad-hoc-activated", "ad_hoc.bpmn", _activated, expect=expectations.activated_once_more
    ),
    Scenario(
        "ad-hoc-steered",
        "ad_hoc.bpmn",
        _steered,
        (STEERED,),
        expect=expectations.activated_as_listed,
    ),
    Scenario("ad-hoc-cancelled", "ad_hoc.bpmn", _steered_and_cancelled, (STEERED,)),
    Scenario("ad-hoc-interrupted", "ad_hoc.bpmn", _steered_and_interrupted, (STEERED, TIMED)),
)
