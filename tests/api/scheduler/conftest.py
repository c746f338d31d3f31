"""The app over a stage for scheduled jobs: firings, a scripted runner, alerts."""

from __future__ import annotations

import pytest

from app import app
from chalicelib import wiring
from tests.api.client import Client
from tests.operations.scheduling import Scheduling


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Scheduling:
    stage = Scheduling()
    monkeypatch.setattr(wiring, "ports", lambda: stage.ports)
    return stage


@pytest.fixture
def client(stage: Scheduling) -> Client:
    return Client(app)
