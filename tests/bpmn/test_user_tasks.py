"""What a model says of a user task that people claim, and what of it is refused."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import codec
from chalicelib.bpmn.model import FormReference, TaskDefinition, Value
from chalicelib.profile import Profile
from tests.bpmn.models import extended, line, parsed, refusal_of

WHOLE = (
    '<zeebe:assignmentDefinition assignee="=clerk" candidateUsers="ann, bob" '
    'candidateGroups="=teams"/>'
    '<zeebe:taskSchedule dueDate="2030-01-31T12:00:00Z" followUpDate="=reminded"/>'
    '<zeebe:priorityDefinition priority="80"/>'
    '<zeebe:formDefinition formId="approve" bindingType="versionTag" versionTag="v1"/>'
)


def task(extensions: str, profile: Profile = Profile.PRIOSTACK) -> TaskDefinition | None:
    process = parsed(line(extended("userTask", extensions)), profile)
    assert process == codec.from_json(codec.to_json(process))
    job = process.elements["a"].job
    assert job is not None
    return job.task


def test_all_that_people_are_told_is_read_and_kept() -> None:
    assert TaskDefinition(
        candidate_users=Value("ann, bob"),
        due_date=Value("2030-01-31T12:00:00Z"),
        follow_up_date=Value("reminded", is_feel=True),
        priority=Value("80"),
        form=FormReference(id=Value("approve"), binding="versionTag", version_tag="v1"),
    ) == task(f"<zeebe:userTask/>{WHOLE}")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ('formKey="camunda-forms:bpmn:f1"', FormReference("camunda-forms:bpmn:f1")),
        ('externalReference="=url"', FormReference(external=Value("url", is_feel=True))),
        ("", None),
    ],
)
def test_a_form_is_named_in_each_way(form: str, expected: FormReference | None) -> None:
    found = task(f'<zeebe:formDefinition {form}/><zeebe:priorityDefinition priority="1"/>')
    assert found is not None
    assert expected == found.form


def test_a_task_of_which_nothing_is_said_has_nothing() -> None:
    assert task("<zeebe:userTask/>") is None


def test_where_user_tasks_are_jobs_nothing_of_it_is_read() -> None:
    assert task(WHOLE.replace('"80"', '"800"'), Profile.ZENBPM) is None


def test_all_that_is_wrong_is_told() -> None:
    wrong = (
        '<zeebe:taskSchedule dueDate="tomorrow" followUpDate="2030-02-30T12:00:00Z"/>'
        '<zeebe:priorityDefinition priority="101"/>'
        '<zeebe:formDefinition formId="approve" bindingType="newest"/>'
    )
    message = refusal_of(line(extended("userTask", wrong)), Profile.PRIOSTACK)

    for part in ("dueDate", "followUpDate", "priority", "bindingType"):
        assert f'userTask "a" (line 1): attribute {part} of' in message
