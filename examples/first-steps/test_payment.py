"""A process under test, in memory: no server, no AWS, and a clock that is moved by hand."""

from __future__ import annotations

from pathlib import Path

from chalicelib.engine.state import InstanceState
from tests.play import play

MODEL = Path(__file__).parent / "payment.bpmn"


def test_a_small_payment_needs_no_approval() -> None:
    payment = play(MODEL).create(total=40)
    assert ["charge"] == payment.open_jobs

    payment.complete("charge", receipt="R-1")

    assert InstanceState.COMPLETED is payment.state
    assert ["ordered", "charge", "size", "paid"] == payment.path
    assert "R-1" == payment.variables["receipt"]


def test_a_large_payment_that_nobody_approves_is_refunded() -> None:
    payment = play(MODEL).create(total=250).complete("charge", receipt="R-2").wait(3600)

    assert InstanceState.COMPLETED is payment.state
    assert "refunded" == payment.path[-1]


def test_a_charge_without_retries_waits_for_an_operator() -> None:
    payment = play(MODEL).create(total=40).fail("charge", message="no funds", retries=0)
    assert ["charge"] == [incident.element_id for incident in payment.incidents]

    payment.resolve().complete("charge", receipt="R-3")

    assert InstanceState.COMPLETED is payment.state
