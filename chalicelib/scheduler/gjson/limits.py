"""The bounds of one evaluation, each with its reason.

Neither a path, which a user sets, nor a text, which a called endpoint answers, may hold or kill
the process: what would pass a bound is absent.
Source: contracts/gjson.md 3.5, guards.
"""

from __future__ import annotations

PATH_MAX = 1_024  # characters of a path; the longest useful ones have a hundred
TEXT_MAX = 2 * 2**20  # bytes of a text, and of one that a path makes; a runner keeps half as many
STEPS_MAX = 2_000_000  # tokens looked at and values asked for; some seconds of work
BYTES_PER_STEP = 16  # of text read or made, so that long tokens are counted too
WILDCARD_STEPS_MAX = 10_000  # places at which a pattern is tried in one text, as in gjson itself
DEPTH_MAX = 1_000  # nested arrays and objects that a modifier goes into
