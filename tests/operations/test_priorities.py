"""Jobs with a priority: of those received together the urgent come first."""

from __future__ import annotations

from tests.operations.models import typed_task
from tests.operations.stage import Stage


def test_of_the_jobs_received_together_the_urgent_come_first() -> None:
    stage = Stage()
    urgent = b'<zeebe:jobPriorityDefinition priority="=urgency"/>'
    xml = typed_task("work").replace(
        b"<bpmn:extensionElements>", b"<bpmn:extensionElements>" + urgent
    )
    definition = stage.deploy(xml)
    for urgency in (1, 9, 5):
        stage.create(definition, urgency=urgency)

    assert [9, 5, 1] == [job.priority for job in stage.activate("work", max_jobs=10)]
