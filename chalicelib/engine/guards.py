"""The names of the conditions that writes rest on: the rows of design section 3's table.

The engine says which row its decision rests on; `store/conditions.py` says, as data, what each
row demands. Every write of a turn is guarded by the root's version besides.
"""

from __future__ import annotations

from enum import StrEnum


class Guard(StrEnum):
    """What must still hold of a record for a decision about it to stand."""

    START = "start"  # root absent
    TURN = "turn"  # root: version as read
    NEW = "new"  # a record this turn makes: absent
    CHANGED = "changed"  # a record only turns write: nothing beyond the root's version
    CLAIM = "claim"  # job: kind, type, active, due, not held, ring as read
    EXTEND = "extend"  # job: active, owner is the client, not lapsed, token if named
    ASSIGN = "assign"  # job: active
    RETRIED_FAILURE = "retried failure"  # job: active, token, attempts, retries as read
    EXHAUSTING_FAILURE = "exhausting failure"  # job: the same, with the root
    COMPLETE = "complete"  # job: active, with the root
    CANCEL = "cancel"  # job: state as read, with the root
    SET_RETRIES = "set retries"  # job: state, attempts as read
    RESOLVE = "resolve"  # job: failed, operator's marker as read, with the root
    RELEASE = "release"  # job: owner and token as read
    RING_AGAIN = "ring again"  # job: active, ring as read
    START_MARK = "start mark"  # of a request done once: absent or expired
    REQUEST = "request"  # the jobs an activation is to claim: version as read
    NAME = "name"  # a subscription under what it waits for: nobody's, or whose it was as read
    START_LOCK = "start lock"  # what a message's instance runs for alone: nobody does
    START_TIMER = "start timer"  # the latest pointer: definition and number of firings as read
    CLIENT_CAP = "client cap"  # the jobs a client holds: version as read
