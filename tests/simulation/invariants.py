"""What must be true of every run when all is quiet: of records, history and acknowledgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from chalicelib.engine.state import (
    ChildWait,
    Failure,
    Incident,
    Instance,
    InstanceState,
    Job,
    JobState,
    Record,
    RecordKey,
    Subscription,
    Timer,
    Variables,
)
from chalicelib.engine.turn import Entered, HistoryEvent, Left, Taken, Terminated
from chalicelib.ports import HISTORY, Query, Table
from chalicelib.store import history, instances, table
from tests.simulation.ledger import Ledger
from tests.simulation.stage import Stage


def check(stage: Stage) -> list[str]:
    """Return what is wrong with the instances of a run and with what clients were told."""
    store, ledger = stage.inner, stage.ledger
    found = {key: instances.load(store, key, None) for key in sorted(stage.watch.roots)}
    wrong = [
        f"start {key} was acknowledged and is gone" for key in ledger.starts if key not in found
    ]
    wrong += _wrong_deliveries(ledger)
    if ledger.starts_once and len(found) > len(ledger.starts_once):
        wrong.append(f"{ledger.starts_once} started {sorted(found)}")
    jobs: dict[int, Job] = {}
    for key, instance in found.items():
        assert instance is not None
        jobs |= {job.key: job for job in _all(instance, Job)}
        events = [event for _, event in events_of(store, key)]
        told = [*_wrong_instance(instance), *_wrong_history(store, instance, events)]
        told += [] if ledger.may_loop else _repeated_flows(events)
        wrong += [f"instance {key}: {what}" for what in told]
        wrong += _too_many_failures(ledger, instance)
    rows = {
        (row.job_key, row.delivery_token) for i in found.values() if i for row in _all(i, Failure)
    }
    wrong += [
        f"failure {each} was acknowledged and has no row"
        for each in ledger.failed
        if each not in rows
    ]
    wrong += _wrong_completions(ledger, jobs)
    wrong += _wrong_cancels(ledger, found)
    wrong += [w for each in found.values() if each for w in _lost_variables(ledger, each)]
    wrong += _wrong_entries(stage, found)
    wrong += _early(stage)
    return wrong


def events_of(store: Table, key: int) -> list[tuple[int, HistoryEvent]]:
    """Return what happened in an instance, with its epoch milliseconds."""
    return list(history.events(store, key))


def unfinished(stage: Stage) -> str:
    """Describe the instances that are still open, and what they wait for."""
    told = [f"{stage.clients} clients still ask"] if stage.clients else []
    for key in sorted(stage.watch.open_roots):
        instance = instances.load(stage.inner, key, None)
        told.append(f"instance {key} is open: {instance}")
    return "; ".join(told)


def _early(stage: Stage) -> Iterator[str]:
    """Yield the timers that ended before their time although their event took place: more often
    than timers of its element, of which a cycle has many, were due."""
    for key, element_id in stage.watch.early_timers:
        events = [event for _, event in events_of(stage.inner, key)]
        entered = {
            event.key
            for event in events
            if isinstance(event, Entered) and event.element_id == element_id
        }
        left = {event.key for event in events if isinstance(event, Left)}
        if len(entered & left) > stage.watch.due_timers[key, element_id]:
            yield f"instance {key}: timer {element_id} fired before its time"


def _wrong_entries(stage: Stage, found: dict[int, Instance | None]) -> Iterator[str]:
    """Yield who waits for a name and is not found by it, and who is found and waits no more."""
    held = {
        each.key
        for instance in found.values()
        for each in (_all(instance, Subscription) if instance else ())
    }
    page = stage.inner.scan(0, 1)
    entered = sorted(int(str(i["subscription"])) for i in page.items if "subscription" in i)
    if entered != sorted(held):
        yield f"subscriptions {sorted(held)} are entered as {entered}"


# --- one instance --------------------------------------------------------------------------------


def _wrong_instance(instance: Instance) -> Iterator[str]:
    for job in _all(instance, Job):
        yield from (f"job {job.key}: {what}" for what in _wrong_failures(instance, job))
    if instance.root.state is InstanceState.ACTIVE:
        return
    if instance.root.live or instance.root.agenda or instance.root.tokens:
        yield f"ended with {instance.root}"
    yield from (
        f"ended with job {job.key} {job.state}"
        for job in _all(instance, Job)
        if job.state in (JobState.ACTIVE, JobState.FAILED)
    )
    yield from (f"ended with {timer}" for timer in _all(instance, Timer))
    yield from (f"ended with {wait}" for wait in _all(instance, ChildWait))
    yield from (f"ended with {each}" for each in _all(instance, Subscription))
    yield from (
        f"ended with {incident}"
        for incident in _all(instance, Incident)
        if not incident.resolved_at
    )


def _wrong_history(
    store: Table, instance: Instance, events: Sequence[HistoryEvent]
) -> Iterator[str]:
    query = Query(HISTORY, table.instance_pk(instance.key), first=table.HISTORY_OF_TURN)
    page = store.query(query)
    versions = sorted({int(str(item["sk"]).split("#")[1]) for item in page.items})
    if versions != list(range(1, instance.root.version + 1)):
        yield f"history of versions {versions}, the root is at {instance.root.version}"
    ends = Counter(event.key for event in events if isinstance(event, Left | Terminated))
    entered = Counter(event.key for event in events if isinstance(event, Entered))
    yield from (f"element {key} was entered {n} times" for key, n in entered.items() if n > 1)
    yield from (f"element {key} ended {n} times" for key, n in ends.items() if n > 1)
    if instance.root.state is InstanceState.COMPLETED and entered.keys() != ends.keys():
        yield f"completed, but elements {sorted(entered.keys() ^ ends.keys())} did not end"


def _repeated_flows(events: Sequence[HistoryEvent]) -> Iterator[str]:
    taken = Counter(event.flow_id for event in events if isinstance(event, Taken))
    yield from (f"flow {flow} was taken {n} times" for flow, n in taken.items() if n > 1)


def _wrong_failures(instance: Instance, job: Job) -> Iterator[str]:
    rows = [row for row in _all(instance, Failure) if row.job_key == job.key]
    numbers = sorted(row.number for row in rows)
    tokens = [row.delivery_token for row in rows if row.delivery_token is not None]
    if numbers != list(range(1, job.failures + 1)):
        yield f"{job.failures} failures, rows {numbers}"
    if len(set(tokens)) < len(tokens):
        yield f"a delivery failed twice: tokens {tokens}"
    if any(token > job.delivery_token for token in tokens):
        yield f"tokens {tokens} failed, only {job.delivery_token} were handed out"


# --- acknowledgements ----------------------------------------------------------------------------


def _wrong_deliveries(ledger: Ledger) -> Iterator[str]:
    seen = Counter((each.job_key, each.token) for each in ledger.deliveries)
    yield from (
        f"job {key}: token {token} delivered {n} times" for (key, token), n in seen.items() if n > 1
    )


def _too_many_failures(ledger: Ledger, instance: Instance) -> Iterator[str]:
    """Yield the jobs that failed more often than their workers said, unless one named no delivery:
    what the wire repeats then is another failure."""
    rows = Counter(row.job_key for row in _all(instance, Failure))
    said = Counter(job_key for job_key, _ in ledger.reported)
    yield from (
        f"job {key} failed {n} times, its workers said so {said[key]} times"
        for key, n in rows.items()
        if n > said[key] and key not in ledger.unnamed
    )


def _wrong_completions(ledger: Ledger, jobs: dict[int, Job]) -> Iterator[str]:
    for key, element in ledger.completed.items():
        if key not in jobs or jobs[key].state is not JobState.COMPLETED:
            yield f"completion of {element} was acknowledged, the job is {jobs.get(key)}"
    for key, job in jobs.items():
        if job.state is JobState.COMPLETED and job.outputs not in ledger.offered.get(key, []):
            yield f"job {key} has outputs that nobody sent: {job.outputs}"


def _lost_variables(ledger: Ledger, instance: Instance) -> Iterator[str]:
    """Yield the variables that were acknowledged, or mapped by a completion, and are lost."""
    record = instance.records.get(RecordKey(Variables, instance.key))
    values = record.values if isinstance(record, Variables) else {}
    for name, value in ledger.variables.get(instance.key, {}).items():
        if values.get(name) != value:
            yield f"variable {name} was set to {value} and is {values.get(name)}"
    for job in _all(instance, Job) if ledger.maps_outputs else ():
        name = f"{job.element_id}_done"  # what the scenarios' output mappings make
        if job.state is JobState.COMPLETED and values.get(name) != (job.outputs or {}).get("token"):
            yield f"{name} is {values.get(name)}, the job has {job.outputs}"


def _wrong_cancels(ledger: Ledger, found: dict[int, Instance | None]) -> Iterator[str]:
    for key in ledger.cancelled:
        instance = found.get(key)
        if instance is None or instance.root.state is not InstanceState.TERMINATED:
            state = instance and instance.root.state
            yield f"cancel of {key} was acknowledged, the instance is {state}"
    # A child ends with what waits for it, which then waits no more.
    asked = ledger.asked_to_cancel | {i.key for i in found.values() if i and i.root.parent}
    for key, instance in found.items():
        if instance and instance.root.state is InstanceState.TERMINATED and key not in asked:
            yield f"instance {key} was terminated and nobody asked for it"


T = TypeVar("T", bound=Record)


def _all(instance: Instance, kind: type[T]) -> list[T]:
    return [record for record in instance.records.values() if isinstance(record, kind)]
