"""The app over fakes: one fixture puts the ports in place, nothing else is replaced."""

from __future__ import annotations

import pytest

from app import app
from chalicelib import wiring
from chalicelib.ports import Ports, Settings
from tests.api.client import Client
from tests.fakes.chance import SeededChance
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def ports(clock: ManualClock, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Ports:
    queues = MemoryQueues(clock)
    ports = Ports(
        table=MemoryTable(),
        queues=queues,
        schedules=MemorySchedules(clock, queues),
        clock=clock,
        chance=SeededChance(),
        settings=settings,
    )
    monkeypatch.setattr(wiring, "ports", lambda: ports)
    return ports


@pytest.fixture
def client(ports: Ports) -> Client:
    return Client(app)
