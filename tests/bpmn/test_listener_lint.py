"""A warning of listeners that nobody will ever ask."""

from __future__ import annotations

import pytest

from tests.bpmn.models import extended, line
from tests.bpmn.test_ad_hoc_lint import warnings

LISTENED = (
    '<zeebe:taskListeners><zeebe:taskListener eventType="completing" type="x"/>'
    "</zeebe:taskListeners>"
)
UNHEARD = "its task listeners are never asked"


@pytest.mark.parametrize(
    ("extensions", "is_warned_of"),
    [
        ("", False),
        (LISTENED, True),
        (f'<zeebe:userTask/><zeebe:taskDefinition type="own"/>{LISTENED}', True),
        (f"<zeebe:userTask/>{LISTENED}", False),
    ],
)
def test_task_listeners_of_a_job_are_warned_of(extensions: str, is_warned_of: bool) -> None:
    told = warnings(line(extended("userTask", extensions)))

    assert is_warned_of == any(UNHEARD in each for each in told)
