"""Where the published systems differ in how a model is read: one record per profile.

What they differ in when it runs is `engine/profiles.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.bpmn.model import Value
from chalicelib.profile import Profile


@dataclass(frozen=True, slots=True)
class Reading:
    """What a profile expects of a model.

    Shapes: `user_task_type` is the job type of a user task that names none, None where user tasks
        are never jobs; `retries` may be blank (then they are absent) or FEEL unless
        `retries_are_literal`, and are `retries_min` or more; `missing_source` is what a mapping
        without a source maps, None for null.
    """

    user_task_type: str | None
    retries_are_literal: bool
    retries_min: int
    missing_source: Value | None


READINGS: Mapping[Profile, Reading] = {
    # contracts/zenbpm.md R56 to R62, and section 4.3 for user tasks and mappings
    Profile.ZENBPM: Reading(
        "user-task-type", retries_are_literal=False, retries_min=0, missing_source=Value("")
    ),
    # contracts/priostack.md P13 to P17; its user tasks are engine-managed; bpmn.md section 3.2
    Profile.PRIOSTACK: Reading(None, retries_are_literal=True, retries_min=1, missing_source=None),
}
