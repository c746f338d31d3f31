"""Where the published systems differ in what the engine does: one record per profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.profile import Profile

RETRIES_MAX = 2**31 - 1  # the contracts' int32, where the profile sets no cap of its own


@dataclass(frozen=True, slots=True)
class Rules:
    """What the engine reads of a profile.

    Shapes: `sees_snapshot`: mappings are evaluated against one snapshot, and a subprocess starts
        from a copy of what it could see; otherwise mappings see earlier ones, and scopes are
        looked through to the top. `outputs_leave`: what a job or subprocess produced and no
        mapping names leaves it all the same.
    Source: design section 6; contracts/zenbpm.md 4.3; contracts/bpmn.md 3.1.
    """

    sees_snapshot: bool
    outputs_leave: bool
    keys_are_unique: bool  # one subscription at most waits for a message's name and key
    buffers_messages: bool  # a message may wait for who subscribes to it later
    keys_are_texts: bool  # a correlation key has to be a text, else it may be a number
    demands_variables: bool  # one that is missing is what an unusable value is put down to
    default_retries: int | None  # None: the setting jobs.defaultRetries
    caps_retries: bool  # at the setting jobs.maxRetries
    claims_tasks: bool  # a user task has to be somebody's before it is completed


RULES: Mapping[Profile, Rules] = {
    Profile.ZENBPM: Rules(
        sees_snapshot=True,
        outputs_leave=False,
        keys_are_unique=True,
        buffers_messages=False,
        keys_are_texts=True,
        demands_variables=False,
        default_retries=None,
        caps_retries=True,
        claims_tasks=False,
    ),
    Profile.PRIOSTACK: Rules(
        sees_snapshot=False,
        outputs_leave=True,
        keys_are_unique=False,
        buffers_messages=True,
        keys_are_texts=False,
        demands_variables=True,
        default_retries=3,
        caps_retries=False,
        claims_tasks=True,
    ),
}
