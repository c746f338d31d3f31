"""What other engines got wrong (contracts/bpmn.md), where it takes more than the engine alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.engine.state import Incident, InstanceState, Job
from chalicelib.errors import Rejected
from chalicelib.operations import messages
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.messages import Message
from chalicelib.operations.retries import update_job_retries
from chalicelib.profile import Profile
from tests.engine.models import io, line, many, message_catch, script, service
from tests.operations.stage import Stage


def incident_of(stage: Stage, key: int) -> Incident:
    records = stage.instance(key).records.values()
    (found,) = (r for r in records if isinstance(r, Incident) and r.resolved_at is None)
    return found


def test_a_message_is_not_correlated_after_its_time_with_what_stood_still_meanwhile() -> None:
    """Row 37 of the known ways to get it wrong: what stops an instance here is an incident."""
    stage = Stage()
    xml = line(service("a"), message_catch("c", "paid"), messages={"paid": "=order"})
    key = stage.create(stage.deploy(xml, Profile.PRIOSTACK), order="o-1")
    message = Message("paid", "o-1", profile=Profile.PRIOSTACK)
    stage.fail(stage.activate("a")[0], retries=0)
    messages.let_message_wait(stage.ports, message, timedelta(seconds=30), "")
    stage.wait(31)

    resolve_incident(stage.ports, incident_of(stage, key).key, Mended())
    stage.work("a")
    stage.wait(10)

    assert InstanceState.ACTIVE is stage.state(key)
    messages.let_message_wait(stage.ports, message, timedelta(seconds=30), "")
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.parametrize("profile", Profile)
def test_a_job_without_retries_is_never_offered(profile: Profile) -> None:
    """Row 58 of the known ways to get it wrong."""
    stage = Stage()
    key = stage.create(stage.deploy(line(service("a", retries="1")), profile))
    stage.fail(stage.activate("a")[0], retries=0)

    stage.wait(3_700)
    assert [] == stage.activate("a")
    with pytest.raises(Rejected):
        stage.claim(_job(stage, key).key)

    resolve_incident(stage.ports, incident_of(stage, key).key, Mended())
    assert 1 == len(stage.activate("a"))


@pytest.mark.parametrize("profile", Profile)
def test_resolving_while_the_retries_are_none_gives_nobody_a_job_without_retries(
    profile: Profile,
) -> None:
    """Row 59 of the known ways to get it wrong."""
    stage = Stage()
    key = stage.create(stage.deploy(line(service("a", retries="1")), profile))
    stage.fail(stage.activate("a")[0], retries=0)
    incident = incident_of(stage, key)
    with pytest.raises(Rejected):
        update_job_retries(stage.ports, _job(stage, key).key, 0)
    with pytest.raises(Rejected):
        resolve_incident(stage.ports, incident.key, Mended(retries=0))
    assert [] == stage.activate("a")

    resolve_incident(stage.ports, incident.key, Mended())

    assert [1] == [job.retries for job in stage.activate("a")]


def _job(stage: Stage, key: int) -> Job:
    (job,) = stage.jobs_of(key)
    return job


@pytest.mark.parametrize("sequential", [False, True])
def test_an_output_mapping_sees_the_results_of_all_child_instances(sequential: bool) -> None:
    """Row 17 of the known ways to get it wrong, where child instances do it in parts."""
    stage = Stage()
    outputs = io(outputs={"answer": "=item", "mapped": "=all"})
    each = {"items": "=items", "item": "item", "results": "all", "result": "=answer"}
    mapped = script("a", "twice", "item * 2", extensions=outputs)
    xml = line(many(mapped, sequential=sequential, each=each))
    items = list(range(150))
    key = stage.create(stage.deploy(xml, Profile.PRIOSTACK), items=items)
    stage.wait(60)

    assert InstanceState.COMPLETED is stage.state(key)
    assert items == stage.variables(key)["all"] == stage.variables(key)["mapped"]
