"""What single scenarios promise, beside the invariants of every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import pairwise

from chalicelib.bpmn.model import Process
from chalicelib.engine.state import (
    USER_TASK,
    Incident,
    Instance,
    InstanceState,
    Job,
    JobState,
    RecordKey,
    Root,
    Variables,
)
from chalicelib.engine.turn import Entered, HistoryEvent, Left
from chalicelib.ports import HISTORY, LIVE, Query
from chalicelib.store import (
    definitions,
    dmn_definitions,
    dmn_lists,
    history,
    instances,
    start_timers,
    table,
)
from chalicelib.store.definitions import DefinitionInfo
from chalicelib.store.dmn_definitions import DmnDefinitionInfo
from chalicelib.store.dmn_lists import WantedDecisions
from chalicelib.store.lists import Cut
from tests.simulation.changes import SKEW_TOLERATED_MS
from tests.simulation.stage import Stage

REMINDERS_MAX = 3
INTERVAL_MS = 10_000
FIRINGS_MAX = 2


def reminders(stage: Stage) -> Iterator[str]:
    """A cycle of three fires at most three times, each on a later point of its grid."""
    for key in sorted(stage.watch.roots):
        events = list(history.events(stage.inner, key))
        task = next((at for at, event in events if _enters(event, "charge")), 0)
        fired = [at for at, event in events if _enters(event, "every_ten_seconds")]
        if len(fired) > REMINDERS_MAX:
            yield f"instance {key} was reminded {len(fired)} times"
        for number, at in enumerate(fired, 1):
            if at < task + number * INTERVAL_MS - SKEW_TOLERATED_MS:
                yield f"instance {key} had its reminder {number} after {at - task} ms"


def started_by_timers(stage: Stage) -> Iterator[str]:
    """Each firing of the latest version started one instance; older ones started none since."""
    if not stage.ledger.deployed:
        return
    infos = {info.key: info for info in definitions.list_all(stage.inner)}
    latest = max(infos.values(), key=lambda info: info.version)
    found = start_timers.read(stage.inner, latest.profile, latest.bpmn_process_id)
    roots = [root for key in stage.watch.roots if (root := _root(stage, key)) is not None]
    started = [root for root in roots if root.definition_key == latest.key]
    if found is None or found.definition_key != latest.key or found.timers:
        yield f"timers are left of version {latest.version}: {found}"
    elif not 1 <= found.started == len(started) <= FIRINGS_MAX:
        yield f"{found.started} firings started {len(started)} instances"
    for root in roots:
        since = root.created_at - infos[root.definition_key].deployed_at
        if since < timedelta(milliseconds=INTERVAL_MS - SKEW_TOLERATED_MS):
            yield f"instance {root.key} was started {since} after its deployment"


def versions(stage: Stage) -> Iterator[str]:
    """Deployments are numbered in a row, and each that was acknowledged is there."""
    yield from _numbered(stage, definitions.list_all(stage.inner))


def dmn_versions(stage: Stage) -> Iterator[str]:
    """So are those of DMN files."""
    yield from _numbered(stage, dmn_definitions.list_all(stage.inner))


def _numbered(stage: Stage, listed: Iterable[DefinitionInfo | DmnDefinitionInfo]) -> Iterator[str]:
    found = {info.key: info for info in listed}
    numbers = Counter(info.version for info in found.values())
    if sorted(numbers.elements()) != list(range(1, len(found) + 1)):
        yield f"versions {sorted(numbers.elements())}"
    for key in stage.ledger.deployed:
        if key not in found:
            yield f"deployment {key} was acknowledged and is gone"


def decided_once(stage: Stage) -> Iterator[str]:
    """A decision is kept if and only if the turn that made it was committed."""
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        tasks = {e.key for e in events if isinstance(e, Entered) and e.element_id == "decide"}
        left = sum(isinstance(event, Left) and event.key in tasks for event in events)
        made = dmn_lists.find(stage.inner, WantedDecisions(scope=key), Cut()).total
        if made != left:
            yield f"instance {key} left its decision {left} times and has {made} decisions"


def one_incident(stage: Stage) -> Iterator[str]:
    """However often the failure that spends the last attempt is sent, it opens one incident."""
    for key in sorted(stage.watch.roots):
        instance = instances.load(stage.inner, key, None)
        records = instance.records.values() if instance else ()
        opened = Counter(each.job_key for each in records if isinstance(each, Incident))
        for job, times in opened.items():
            if times > 1:
                yield f"job {job} failed for good once and has {times} incidents"


def heard_out(stage: Stage) -> Iterator[str]:
    """The listener of a process came once if its instance ended in the way that it listens to."""
    ends = {"end 0": InstanceState.COMPLETED, "cancel 0": InstanceState.TERMINATED}
    for instance in _instances(stage):
        done = [job for job in _jobs(instance) if job.state is JobState.COMPLETED]
        heard = [ends[job.listener] for job in done if job.listener in ends]
        if heard not in ([], [instance.root.state]):
            yield f"instance {instance.key} is {instance.root.state} and heard {heard}"
        listened = [each.event for each in _process(stage, instance).listeners]
        wanted = [ends.get(f"{event} 0") for event in listened]
        if instance.root.state in wanted and not heard:
            yield f"instance {instance.key} is {instance.root.state} and heard nobody"


def surely_done(stage: Stage) -> Iterator[str]:
    """A user task is only completed by who is sure: all others were denied it."""
    for instance in _instances(stage):
        for job in _jobs(instance):
            if (job.kind, job.state) != (USER_TASK, JobState.COMPLETED):
                continue
            if (job.outputs or {}).get("sure") is not True:
                yield f"user task {job.key} was completed by {job.outputs}"


def ended_heard(stage: Stage) -> Iterator[str]:
    """A user task that was ended was so after its listener, and one that was done without it."""
    for instance in _instances(stage):
        states = {job.state for job in _jobs(instance) if job.kind == USER_TASK}
        heard = [job.state for job in _jobs(instance) if job.listener == "canceling 0"]
        if JobState.TERMINATED in states and heard != [JobState.COMPLETED]:
            yield f"instance {instance.key} has an ended user task whose listener is {heard}"
        if JobState.COMPLETED in states and heard:
            yield f"instance {instance.key} has a user task that was done and ended: {heard}"


def undone_as_left(stage: Stage) -> Iterator[str]:
    """What was done is undone once, by who sees what its scope left; that is kept no longer."""
    for instance in _instances(stage):
        made = [job for job in _jobs(instance) if job.element_id == "refund"]
        seen = [(job.state, job.inputs.get("back")) for job in made]
        if seen != [(JobState.COMPLETED, 2)]:
            yield f"instance {instance.key} undid {seen}"
        records = instance.records.values()
        kept = [record.scope for record in records if isinstance(record, Variables)]
        if kept != [instance.key]:
            yield f"instance {instance.key} keeps variables of {kept}"


def all_doubled(stage: Stage) -> Iterator[str]:
    """Each iteration gave its result, in its place, whoever did it."""
    for instance in _instances(stage):
        top = instance.records.get(RecordKey(Variables, instance.key))
        if instance.root.parent is not None or not isinstance(top, Variables):
            continue
        results = top.values.get("done")
        if results != [2 * number for number in range(1, len(results or ()) + 1)] or not results:
            yield f"instance {instance.key} has the results {results}"


def gone_as_one(stage: Stage) -> Iterator[str]:
    """An instance and its parts go at one time, which was given to all their items."""
    times: dict[int, set[object]] = {}
    for instance in _instances(stage):
        parent, pk = instance.root.parent, table.instance_pk(instance.key)
        whole = instance.key if parent is None else parent.instance_key
        found = [stage.inner.query(Query(name, pk)).items for name in (LIVE, HISTORY)]
        times.setdefault(whole, set()).update(
            item.get("expires_at") for items in found for item in items
        )
    for key, given in times.items():
        if len(given) != 1 or None in given:
            yield f"instance {key} and its parts go at {given}"


def escalated(stage: Stage) -> Iterator[str]:
    """What a child threw at its end was caught by its call, which did not end otherwise."""
    for instance in _instances(stage):
        if instance.root.parent is None and instance.root.state is InstanceState.COMPLETED:
            events = [event for _, event in history.events(stage.inner, instance.key)]
            if sum(_enters(event, "given_up") for event in events) != 1:
                yield f"instance {instance.key} went on as if nothing had been thrown"


def _instances(stage: Stage) -> Iterator[Instance]:
    for key in sorted(stage.watch.roots):
        instance = instances.load(stage.inner, key, None)
        if instance is not None:
            yield instance


def _jobs(instance: Instance) -> list[Job]:
    return [record for record in instance.records.values() if isinstance(record, Job)]


def _process(stage: Stage, instance: Instance) -> Process:
    definition = definitions.get(stage.inner, instance.root.definition_key)
    assert definition is not None
    return definition.process


def claimed_once(stage: Stage) -> Iterator[str]:
    """A user task was promised to one person alone, and whoever was told so completed it."""
    for key, people in stage.ledger.claimed.items():
        if len(people) > 1:
            yield f"user task {key} was promised to {sorted(people)}"


def moved_once(stage: Stage) -> Iterator[str]:
    """A move that was acknowledged started its element once more; no other was started."""
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        entered = sum(_enters(event, "charge") for event in events)
        if entered > 2 or (key in stage.ledger.moved and entered != 2):
            yield f"instance {key} entered charge {entered} times, moved: {stage.ledger.moved}"


def activated_as_listed(stage: Stage) -> Iterator[str]:
    """Each step is activated once, whoever asked for it and however often it was sent."""
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        for step in ("inspect", "ask"):
            entered = sum(_enters(event, step) for event in events)
            if entered != 1:
                yield f"instance {key} activated {step} {entered} times"


def activated_once_more(stage: Stage) -> Iterator[str]:
    """An activation that was acknowledged took place once beside that of the model."""
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        entered = sum(_enters(event, "ask") for event in events)
        if entered > 2 or (key in stage.ledger.moved and entered != 2):
            yield f"instance {key} activated ask {entered} times, asked: {stage.ledger.moved}"


def met_once(stage: Stage) -> Iterator[str]:
    """Each message that was acknowledged came once, and no other more than once.

    One that met nobody may still come, if the wire repeats its request.
    """
    ledger = stage.ledger
    came = 0
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        came += sum(_enters(event, "received") for event in events)
    if not len(ledger.published) <= came <= len(ledger.asked_to_publish):
        yield f"{sorted(ledger.asked_to_publish)} were sent, {sorted(ledger.published)} were "
        yield f"acknowledged, {came} came"


def beside_once(stage: Stage) -> Iterator[str]:
    """A signal came to whoever waits beside its task no more often than it was thrown."""
    thrown, came = 0, []
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        thrown += sum(_enters(event, "tell") for event in events)
        came.append(sum(_enters(event, "received") for event in events))
    if max(came, default=0) > thrown or (thrown and not any(came)):
        yield f"{thrown} signals were thrown, {came} came"


def one_by_one(stage: Stage) -> Iterator[str]:
    """Of the instances that messages of one key start none begins before another has ended."""
    spans = []
    for key in sorted(stage.watch.roots):
        instance = instances.load(stage.inner, key, None)
        if instance is not None and instance.root.ended_at is not None:
            spans.append((instance.root.created_at, instance.root.ended_at, key))
    if len(spans) < len(stage.ledger.published):
        yield f"{sorted(stage.ledger.published)} were acknowledged, {len(spans)} started"
    skew = timedelta(milliseconds=SKEW_TOLERATED_MS)
    for (_, ended, one), (began, _, other) in pairwise(sorted(spans)):
        if began < ended - skew:
            yield f"instance {other} began while {one} ran"


def thrown_once(stage: Stage) -> Iterator[str]:
    """What instances threw came as often as they threw it."""
    thrown = came = 0
    for key in sorted(stage.watch.roots):
        events = [event for _, event in history.events(stage.inner, key)]
        thrown += sum(_enters(event, "tell") for event in events)
        came += sum(_enters(event, "received") for event in events)
    if thrown != came:
        yield f"{thrown} messages were thrown, {came} came"


def _root(stage: Stage, key: int) -> Root | None:
    instance = instances.load(stage.inner, key)
    return None if instance is None else instance.root


def _enters(event: HistoryEvent, element_id: str) -> bool:
    return isinstance(event, Entered) and event.element_id == element_id
