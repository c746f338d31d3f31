"""The bounds of a turn, and the settings that the engine's decisions rest on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

MOVES_MAX = 300  # moves in one turn: keeps it under a second and its history under 100 kB
ACTIONS_MAX = 90  # of the 100 that one TransactWriteItems call may hold (DynamoDB quota)
TURN_BYTES_MAX = 3_000_000  # of the 4 MB of one TransactWriteItems call (DynamoDB quota)
ITEM_BYTES_MAX = 350_000  # of DynamoDB's 400 kB an item
ROOT_BYTES_MAX = 100_000
LIVE_MAX = 2_000  # live element instances of one process instance
MESSAGE_MAX = 200  # characters kept of a failure's message on the job
SMALL_INPUTS_BYTES = 300  # inputs up to here live on the job's own item
SMALL_VARIABLES_BYTES = 512  # the top scope's variables up to here live on the root
SMALL_RESULTS_BYTES = 1_024  # the results of all its bodies up to here live on the root
TOLD_ITEMS_BYTES = 16_384  # up to here four read units fetch what the items of a body tell


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings of contracts/zenbpm.md section 5.1 that decide about jobs and elements."""

    default_retries: int = 1  # jobs.defaultRetries
    max_retries: int = 100  # jobs.maxRetries
    default_backoffs: tuple[timedelta, ...] = (timedelta(0),)  # jobs.defaultRetryBackoff
    max_backoff: timedelta = timedelta(hours=24)  # jobs.maxRetryBackoff
    max_elements: int = 10_000  # cluster.engine.maxElementExecutionCount; 0 or less: no limit
    max_depth: int = 100  # cluster.engine.maxProcessInstanceNestingDepth; 0 or less: no limit
    moves_max: int = MOVES_MAX


DEFAULT_LIMITS = Limits()
