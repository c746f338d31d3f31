"""The app over a stage, whose queues are served while time passes."""

from __future__ import annotations

import pytest

from chalicelib import wiring
from chalicelib.ports import Ports
from tests.fakes.clock import ManualClock
from tests.operations.stage import Stage


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage()
    monkeypatch.setattr(wiring, "ports", lambda: stage.ports)
    return stage


@pytest.fixture
def ports(stage: Stage) -> Ports:
    return stage.ports


@pytest.fixture
def clock(stage: Stage) -> ManualClock:
    return stage.clock
