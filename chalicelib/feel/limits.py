"""The bounds of one expression and of one evaluation, each with its reason.

A tenant's model must not be able to hold a worker: what would pass a bound is a `FeelError`.
"""

from __future__ import annotations

TEXT_MAX = 100_000  # characters of one expression; the largest hand-written ones have hundreds
NAME_PARTS_MAX = 64  # words, spaces and signs of a name: at each word a text may begin one again
DEPTH_MAX = 100  # nested sub-expressions; four Python frames each, of a thousand in all
CALLS_MAX = 60  # nested calls of FEEL functions; about a dozen Python frames each
STEPS_MAX = 1_000_000  # iterations, calls and list items handled; about a second of work
SECONDS_MAX = 2  # of an evaluation, where it is given a clock; for slow machines and slow steps
POLL_STEPS = 1_000  # after which the clock is looked at; some milliseconds
LIST_MAX = 100_000  # items of one list that an expression makes
STRING_MAX = 1_000_000  # characters of one string that an expression makes
JSON_MAX = 8_000_000  # characters, about, of a value as JSON: one that is shared counts each time
WARNINGS_MAX = 1_000  # that are kept; a loop may leave one each time round
MESSAGE_MAX = 500  # characters of a warning, which may repeat a name of the model
PATTERN_MAX = 2_000  # characters of a regular expression
PATTERN_SPELT_MAX = 100_000  # characters of one with its classes spelt out; tenths of a second
PATTERN_INPUT_MAX = 20_000  # characters a regular expression is applied to: `re` has no timeout
CACHE_MAX = 2_048  # compiled expressions kept per container
CACHED_TEXT_MAX = 4_000  # characters of one that is kept, so that the cache stays below 100 MB
