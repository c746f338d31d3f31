"""The engine's one door: a command and an instance go in, a turn comes out.

    turn = handle(process, instance, command, moment=…, keys=…)

It is pure: the same inputs give the same turn, and nothing that goes in is changed but `keys`,
which are handed out. So whoever calls may run it again, with more records after `Missing`, with
more keys after `OutOfKeys`, on a newer instance after a lost commit.

Inside, a `Draft` is changed by the command, then by the moves that follow: `DECISIONS` says what
each command does; `moves.run` lets tokens go on until they wait; `elements/` says what each kind
of element does; `tokens` how they leave, join and end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.bpmn.model import Process
from chalicelib.engine import (
    activations,
    calls,
    conditions,
    failures,
    incidents,
    instances,
    jobs,
    modification,
    moves,
    parts,
    subscriptions,
    task_listeners,
    timers,
)
from chalicelib.engine.commands import (
    ActivateElements,
    CancelInstance,
    ChangeTask,
    Command,
    CompleteJob,
    Continue,
    Correlate,
    CreateInstance,
    DeleteVariable,
    EndChild,
    FailChild,
    FailJob,
    FireTimer,
    HearEscalation,
    HearIteration,
    MarkIncident,
    ModifyInstance,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.draft import Draft, Given
from chalicelib.engine.keys import Keys
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.engine.plans import plan_of
from chalicelib.engine.state import Instance
from chalicelib.engine.turn import Turn
from chalicelib.feel.moment import Moment


def handle(
    process: Process,
    instance: Instance | None,
    command: Command,
    *,
    moment: Moment,
    keys: Keys,
    limits: Limits = DEFAULT_LIMITS,
) -> Turn:
    """Decide a command and make the moves that follow, as far as one turn goes.

    Shapes: `instance` is None for CreateInstance and for nothing else; when the deadline of the
        moment is over, no further move is made in the turn.
    Returns: a turn whose `done` is False if the agenda filled it: the command is then to be
        decided again on what it makes. A cancel does not wait for the agenda.
    Raises: Rejected if the caller is wrong, Missing, OutOfKeys.
    """
    if instance is None:
        assert isinstance(command, CreateInstance)
        given = Given(moment, keys, limits, command.holders, command.decisions)
        root = instances.new_root(process, command, moment.now, keys)
        draft = Draft(plan_of(process), root, None, given)
        instances.start(draft, command)
    else:
        given = Given(moment, keys, limits, instance.holders, instance.decisions)
        draft = Draft(plan_of(process), instance.root, instance, given)
        if not isinstance(command, CancelInstance):
            _go_on(draft)
            if moves.goes_on(draft):
                return draft.turn(goes_on=True, done=isinstance(command, Continue))
        draft.moment.deadline.restart()
        decide(draft, command)
    _go_on(draft)
    return draft.turn(goes_on=moves.goes_on(draft))


def _go_on(draft: Draft) -> None:
    """Make the moves that follow, and let conditional events happen."""
    if not draft.plan.is_watched:
        moves.run(draft)
        return
    conditions.react(draft)
    moves.run(draft)
    if conditions.react(draft):
        moves.run(draft)


def decide(draft: Draft, command: Command) -> None:
    """Do what a command asks of an instance that exists. Raises: Rejected, Missing, OutOfKeys."""
    DECISIONS[type(command)](draft, command)


def _nothing(draft: Draft, command: Continue) -> None:
    """The agenda was all there is to it."""


# What each command does; a test compares the keys with `Command`.
DECISIONS: Mapping[type, Callable[[Draft, Any], None]] = {
    CompleteJob: jobs.complete_job,
    ChangeTask: task_listeners.change,
    FailJob: failures.fail_job,
    FireTimer: timers.fire,
    Correlate: subscriptions.correlate,
    CancelInstance: instances.cancel,
    SetVariables: instances.set_variables,
    DeleteVariable: instances.delete_variable,
    ModifyInstance: modification.modify,
    ActivateElements: activations.activate,
    ResolveIncident: incidents.resolve,
    MarkIncident: incidents.mark,
    EndChild: calls.end_child,
    FailChild: calls.fail_child,
    HearEscalation: calls.hear_escalation,
    HearIteration: parts.hear_iteration,
    Continue: _nothing,
}
