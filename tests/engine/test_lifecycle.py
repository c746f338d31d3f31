"""The tables of states: total, and closed under what commands do."""

from __future__ import annotations

from chalicelib.bpmn.model import Kind
from chalicelib.engine.element_types import ELEMENT_TYPES
from chalicelib.engine.elements import BEHAVIOURS
from chalicelib.engine.lifecycle import (
    ACTIVITY_STATES,
    INSTANCE_LEADS_TO,
    JOB_ACCEPTS,
    JOB_LEADS_TO,
)
from chalicelib.engine.profiles import RULES
from chalicelib.engine.state import InstanceState, JobState
from chalicelib.profile import Profile


def test_every_state_has_its_row() -> None:
    assert set(JobState) == set(JOB_ACCEPTS) == set(JOB_LEADS_TO)
    assert set(InstanceState) == set(INSTANCE_LEADS_TO) == set(ACTIVITY_STATES)


def test_what_leads_nowhere_has_ended_for_good() -> None:
    assert {JobState.COMPLETED, JobState.TERMINATED} == {
        state for state, following in JOB_LEADS_TO.items() if not following
    }


def test_every_kind_of_element_has_a_behaviour_and_a_word() -> None:
    assert set(Kind) == set(BEHAVIOURS) == set(ELEMENT_TYPES)


def test_every_profile_has_its_rules() -> None:
    assert set(Profile) == set(RULES)
