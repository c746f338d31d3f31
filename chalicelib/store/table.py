"""Where everything is: the two tables, their keys and their indexes, in one place.

The live table holds item collections. A process instance is one, under `I#<instance key>`:

    R                          the root; in a further key block of the instance: its alias
    V#<scope>                  variables of one scope, where the root does not hold them, nor the
                               items of a multi-instance activity tell them
    J#<job>                    a job, hot and small
    P#<job>                    its payload: inputs and headers that are not small
    O#<job>                    its outputs, where they are not small
    T#<timer>                  a timer
    S#<subscription>           a subscription: an event that waits for a message or a signal
    N#<incident>               an incident
    L#<body>                   the items of a multi-instance activity
    U#<body and part>          what its iterations gave, in parts, where the root does not hold it
    C#<child>                  a child wait: an element waits for that instance
    E#<instance>               the error that ended it, for whoever waits for it
    F#<job>#<number>           a failure, by running number

Beside them:

    D#<definition> / M#nnn, X#nnn     compiled model and XML of a definition, in chunks
    DEFINITIONS / <definition>        what a definition is, all in one partition: deploying is rare
    L#<profile>#<process id> / L      the latest version, its timers and, once one was deleted, the
                                      highest number there was; T#<tag>: the version of that tag
    DMN_DEFINITIONS / <definition>    what a DMN definition is, its chunks as above
    L#dmn:<profile>#<resource id>     the latest version of a DMN file, and
    L#decision:<profile>#<id>         of whatever file has that decision, or has it with that tag
    N#<message> / U                   the subscription that waits alone for a name and key
    N#<message> / W#<subscription>    another that waits for it; the oldest first
    N#<message> / B#<published>#<id>  a message that waits for who subscribes to it later
    G#<signal>#<shard> / W#<subscription>  one that waits for a signal
    A#<broadcast> / A                 a broadcast of a signal, until nobody is left it was for
    K#<start lock> / K                the instance that a message started and that runs alone
    B#<message or signal> / <profile>#<process id>  a process whose latest version it may start;
                                      those that a condition starts stand together
    COUNTER / blocks                  how many key blocks were taken
    S#<request> / S                   start mark: a request that is done once, and what it made
    Q#<request> / Q                   the jobs that an activation with a request id is to claim
    C#<client and type> / C           client cap: the jobs that a client holds of a type
    CENSUS / <began>                  how much the segments of a sweep found open
    API_KEYS / <id>                   an API key: its name, role and hash

A scheduled job is a collection of its own, under `SJ#<job id>`:

    D                                 its definition
    L#<pool index>                    overlap lock: the run that holds the index
    W#<run>#<pool index>#<iteration>  a row: one iteration of a run
    A                                 alarm mark: when its alarm last went off

and `SCHEDULED_JOBS` / `<created>#<job id>` lists them, all in one partition: they are few.

What is routed lies where `routing_keys.py` says.

The history table holds `I#<instance key>` / `H#<version>#<part>`: what one turn did; beside it
`D#<decision instance>`: a decision that was made, also one that no process called, under its own
key as the instance's; and
`SJ#<job id>` / `V#<finished>#<run>#<pool index>#<iteration>#<attempt>`: an invocation, which is
one attempt at a row.

Indexes are KEYS_ONLY, over attributes that never change; `open` is sparse, an item leaves it when
it ends. Their partitions are sharded, because a partition takes 1,000 writes a second, and the
start and the end of an instance are two in `open`: SHARDS of them carry 10,000 instances a second
(docs/adr/0031, and `tests/store/test_heat.py` shows it). `infra` makes the tables of TABLES, and a
test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from chalicelib import json_text
from chalicelib.engine.keys import block_of, first_key
from chalicelib.ports import HISTORY, LIVE, Attribute, ItemKey

SHARDS = 24  # there were 4 of them once: lists look into all, so what stands there is found
PAGE_MIN = 100  # entries of a shard that are read at a time, however few are asked for


@dataclass(frozen=True, slots=True)
class Index:
    """A global secondary index, KEYS_ONLY; both attributes are strings."""

    name: str
    pk: str
    sk: str


@dataclass(frozen=True, slots=True)
class Schema:
    """How a table is made: on demand, string keys, indexes, and the time-to-live attribute."""

    indexes: tuple[Index, ...] = ()
    pk: str = "pk"
    sk: str = "sk"
    ttl: str = "expires_at"  # epoch seconds

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes to declare: all key attributes, each a string, in order."""
        names = [
            self.pk,
            self.sk,
            *(name for index in self.indexes for name in (index.pk, index.sk)),
        ]
        return tuple(dict.fromkeys(names))

    def index(self, name: str) -> Index:
        """Return the index of that name."""
        return next(index for index in self.indexes if index.name == name)


LISTED = "listed"  # all process instances, newest last
OPEN = "open"  # open process instances; open incidents
DECIDED = "decided"  # of the history: decisions that were made, newest last

TABLES: Mapping[str, Schema] = {
    LIVE: Schema(
        indexes=(
            Index(name=LISTED, pk="listed_in", sk="listed_at"),
            Index(name=OPEN, pk="open_in", sk="listed_at"),
        )
    ),
    HISTORY: Schema(indexes=(Index(name=DECIDED, pk="decided_in", sk="decided_at"),)),
}

# --- process instances -------------------------------------------------------------------------

INSTANCE = "I#"
ROOT = "R"
VARIABLES = "V#"
JOB = "J#"
PAYLOAD = "P#"
OUTPUTS = "O#"
TIMER = "T#"
SUBSCRIPTION = "S#"
INCIDENT = "N#"
FAILURE = "F#"
CHILD_WAIT = "C#"
THROWN = "E#"
LOOP_ITEMS = "L#"
LOOP_RESULTS = "U#"
HISTORY_OF_TURN = "H#"
DECISION = "D#"


def instance_pk(instance_key: int) -> str:
    """Return the partition of a process instance, in both tables."""
    return f"{INSTANCE}{instance_key}"


def is_of_instance(pk: Attribute) -> bool:
    """Say whether a partition is that of a process instance."""
    return str(pk).startswith(INSTANCE)


def instance_key(pk: str) -> int:
    """Return the process instance whose partition it is."""
    return int(pk.removeprefix(INSTANCE))


def record_key(instance: int, prefix: str, key: int) -> ItemKey:
    """Return where a record of an instance is; numbers are padded, so they sort as numbers."""
    return ItemKey(LIVE, instance_pk(instance), f"{prefix}{key:016}")


def root_key(key: int) -> ItemKey:
    """Return where the root of that key's block is, or the alias that names its instance."""
    return ItemKey(LIVE, instance_pk(first_key(block_of(key))), ROOT)


def failure_key(instance: int, job: int, number: int) -> ItemKey:
    """Return where the failure of that running number of a job is."""
    return ItemKey(LIVE, instance_pk(instance), f"{failures_prefix(job)}{number:06}")


def failures_prefix(job: int) -> str:
    """Return what the sort keys of all failures of a job begin with."""
    return f"{FAILURE}{job:016}#"


def history_key(instance: int, version: int, part: int = 0) -> ItemKey:
    """Return where the history of the turn is that made that version of the root."""
    return ItemKey(HISTORY, instance_pk(instance), f"{HISTORY_OF_TURN}{version:010}#{part:03}")


def decision_key(instance: int, key: int) -> ItemKey:
    """Return where a decision is that an instance made, or that was made under its own key."""
    return ItemKey(HISTORY, instance_pk(instance), f"{DECISION}{key:016}")


# What a caller, who never sees a key of ours, is told of what an item holds.
_WORDS = {
    ROOT: "the state of its execution",
    VARIABLES: "the variables of scope",
    JOB: "job",
    PAYLOAD: "the inputs and headers of job",
    OUTPUTS: "the outputs of job",
    TIMER: "timer",
    SUBSCRIPTION: "subscription",
    INCIDENT: "incident",
    FAILURE: "a failure of job",
    CHILD_WAIT: "what goes along to child instance",
    THROWN: "the error that ended instance",
    LOOP_ITEMS: "the items of multi-instance activity",
    LOOP_RESULTS: "results of multi-instance activity",
    DECISION: "the audit of decision",
    HISTORY_OF_TURN: "one event of its history",
}


def words_of(place: ItemKey) -> str:
    """Return what an item of a process instance holds, in words: `the variables of scope 7`."""
    prefix = next(prefix for prefix in _WORDS if place.sk.startswith(prefix))
    numbered = place.sk.removeprefix(prefix).partition("#")[0]
    is_named = prefix not in (ROOT, HISTORY_OF_TURN)
    return f"{_WORDS[prefix]} {int(numbered)}" if is_named else _WORDS[prefix]


def after(prefix: str) -> str:
    """Return a sort key behind all that begin with the prefix."""
    return f"{prefix}\U0010ffff"


# --- lists -------------------------------------------------------------------------------------


def shard_pk(kind: str, shard: int) -> str:
    """Return one partition of an index."""
    return f"{kind}#{shard}"


def shard_of(instance: int) -> int:
    """Return the shard of a process instance: blocks are given out in turn, so they spread."""
    return block_of(instance) % SHARDS


def page_of(looks_max: int) -> int:
    """Return how many entries of one shard to read at a time, of so many in all shards.

    Twice its share, so that shards need not be of the same length.
    """
    return max(PAGE_MIN, 2 * looks_max // SHARDS)


INSTANCES = "instances"
INCIDENTS = "incidents"
DECISIONS = "decisions"


def listed_at(created_ms: int, key: int, definition: int = 0) -> str:
    """Return the sort key of an index entry: by time, then key; it tells the definition too."""
    return f"{created_ms:013}#{key:016}#{definition:016}"


def listed_parts(text: str) -> tuple[int, int, int]:
    """Return the creation time, key and definition key that an index entry tells."""
    created_ms, key, definition = text.split("#")
    return int(created_ms), int(key), int(definition)


# --- definitions and counters ------------------------------------------------------------------

DEFINITIONS = "DEFINITIONS"
DMN_DEFINITIONS = "DMN_DEFINITIONS"
DMN, DECIDING = "dmn:", "decision:"  # before the profile, where it is no process that is named
MODEL = "M#"
XML = "X#"
START_QUOTA = ItemKey(LIVE, "Q#starts", "-")  # counts starts against priostack.startQuota
BLOCK_COUNTER = ItemKey(LIVE, "COUNTER", "blocks")
CENSUS = "CENSUS"
API_KEYS = "API_KEYS"


def api_key_key(id_: str) -> ItemKey:
    """Return where an API key is described; all are in one partition, for they are few."""
    return ItemKey(LIVE, API_KEYS, id_)


def census_key(began_ms: int) -> ItemKey:
    """Return where it is said how much a sweep found open."""
    return ItemKey(LIVE, CENSUS, f"{began_ms:013}")


def definition_key(key: int, partition: str = DEFINITIONS) -> ItemKey:
    """Return where it is said what a definition is."""
    return ItemKey(LIVE, partition, f"{key:016}")


def chunk_key(definition: int, prefix: str, number: int) -> ItemKey:
    """Return where a chunk of a definition's model or XML is."""
    return ItemKey(LIVE, f"D#{definition}", f"{prefix}{number:03}")


def latest_key(profile: str, process_id: str) -> ItemKey:
    """Return where the latest version of a process is named."""
    return ItemKey(LIVE, f"L#{profile}#{process_id}", "L")


def latest_parts(pk: str) -> tuple[str, str]:
    """Return the profile and process whose partition it is."""
    _, profile, process_id = pk.split("#", 2)
    return profile, process_id


def tag_key(profile: str, process_id: str, tag: str) -> ItemKey:
    """Return where the version of that tag is named."""
    return ItemKey(LIVE, f"L#{profile}#{process_id}", f"T#{tag}")


# --- scheduled jobs ----------------------------------------------------------------------------

SCHEDULED_JOBS = "SCHEDULED_JOBS"
SCHEDULED_JOB = "SJ#"  # what the partition of one begins with
JOB_DEFINITION = "D"
POOL_LOCK = "L#"
ROW = "W#"
ALARM = "A"
INVOCATION = "V#"


def scheduled_job_pk(job_id: str) -> str:
    """Return the partition of a scheduled job, in both tables."""
    return f"{SCHEDULED_JOB}{job_id}"


def scheduled_job_key(job_id: str) -> ItemKey:
    """Return where the definition of a scheduled job is."""
    return ItemKey(LIVE, scheduled_job_pk(job_id), JOB_DEFINITION)


def listed_job_key(created_ms: int, job_id: str) -> ItemKey:
    """Return where a scheduled job is listed: by the time it was created."""
    return ItemKey(LIVE, SCHEDULED_JOBS, f"{created_ms:013}#{job_id}")


def pool_lock_key(job_id: str, pool_idx: int) -> ItemKey:
    """Return where it is said which run holds a pool index."""
    return ItemKey(LIVE, scheduled_job_pk(job_id), f"{POOL_LOCK}{pool_idx:02}")


def row_key(job_id: str, run_id: str, pool_idx: int, iteration: int) -> ItemKey:
    """Return where a row is."""
    sk = f"{rows_prefix(run_id)}{pool_idx:02}#{iteration:06}"
    return ItemKey(LIVE, scheduled_job_pk(job_id), sk)


def rows_prefix(run_id: str) -> str:
    """Return what the sort keys of all rows of a firing begin with."""
    return f"{ROW}{run_id}#"


def alarm_key(job_id: str) -> ItemKey:
    """Return where it is said when a job's alarm last went off."""
    return ItemKey(LIVE, scheduled_job_pk(job_id), ALARM)


def invocation_key(job_id: str, finished_ms: int, row: str, attempt: int) -> ItemKey:
    """Return where an attempt is; `row` is its row's sort key."""
    sk = f"{invocations_from(finished_ms)}#{row.removeprefix(ROW)}#{attempt:04}"
    return ItemKey(HISTORY, scheduled_job_pk(job_id), sk)


def invocations_from(finished_ms: int) -> str:
    """Return what the sort keys of attempts that ended at that time begin with."""
    return f"{INVOCATION}{finished_ms:013}"


# --- what callers name -------------------------------------------------------------------------

NAME_LENGTH = 32  # hexadecimal digits that stand for names which callers choose


def mark_key(route: str, key: str) -> ItemKey:
    """Return where the start mark is of a request to a route under an idempotency key."""
    return ItemKey(LIVE, f"S#{name_of(route, key)}", "S")


def request_key(client_id: str, job_type: str, request_id: str) -> ItemKey:
    """Return where the jobs are listed that an activation of a client is to claim."""
    return ItemKey(LIVE, f"Q#{name_of(client_id, job_type, request_id)}", "Q")


def cap_key(client_id: str, job_type: str) -> ItemKey:
    """Return where the jobs are listed that a client holds of a type."""
    return ItemKey(LIVE, f"C#{name_of(client_id, job_type)}", "C")


def name_of(*words: str) -> str:
    """Return a short name for words of any length and characters."""
    return sha256(json_text.dumps(list(words)).encode()).hexdigest()[:NAME_LENGTH]
