"""Each test is in a sampled trace."""

from __future__ import annotations

import pytest

from chalicelib.telemetry import xray
from tests.telemetry.told import TRACE


@pytest.fixture(autouse=True)
def traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(xray.TRACE, TRACE)
