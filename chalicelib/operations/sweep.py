"""The net under the promises: what waits although its time has come is told so again.

Nothing relies on it, but queues keep messages for 14 days only, people delete queues, and state
on a laptop is restored from checkpoints. `sweep_parts.py` says what is looked at hourly and what
daily. A job that nobody works on is rung again daily, and that is routine; what can only be a
message that was lost is counted apart, for an alarm. Design section 4, "The net".

Whoever looks at everything can count it too: the journal is told how much is open.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from chalicelib.delivery import commands, routing, runs, timers
from chalicelib.delivery import start_timers as starts
from chalicelib.delivery.commands import QueuedCommand
from chalicelib.delivery.later import delay_s
from chalicelib.delivery.promise import job_queue
from chalicelib.delivery.timers import TimerMessage
from chalicelib.engine.commands import Continue, Retire
from chalicelib.engine.draft import Draft, Given
from chalicelib.engine.keys import Keys
from chalicelib.engine.moves import goes_on
from chalicelib.engine.plans import plan_of
from chalicelib.engine.state import USER_TASK, Instance, InstanceState, Job, JobState, Root, Timer
from chalicelib.feel.moment import Moment
from chalicelib.operations import child_sweep, message_sweep, routing_sweep, run_sweep
from chalicelib.operations.rings import ring_anew
from chalicelib.operations.start_timers import waiting_starts
from chalicelib.ports import Item, Message, Ports
from chalicelib.store import definitions, items, jobs, retention, start_timers, sweeping, table

BELL_AGE = timedelta(days=1)  # of a bell that is rung again, of the 14 that a queue keeps it
TIMER_AGE = timedelta(minutes=5)  # overdue; SQS delivers within seconds
AGENDA_AGE = timedelta(minutes=5)  # untouched; its Continue comes after five seconds

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Swept:
    """What a sweep did: jobs rung for, the rest told; `mended` of them were lost.

    Shapes: `retired` are ended instances whose items had no time to live yet, `runs` rows of
        scheduled jobs, `schedules` what fires these; `routed` are messages in channels and groups
        of aggregators, `unmet` messages and signals told to look again.
    """

    jobs: int = 0
    timers: int = 0
    agendas: int = 0
    children: int = 0
    retired: int = 0
    runs: int = 0
    schedules: int = 0
    routed: int = 0
    unmet: int = 0
    mended: int = 0


@dataclass(slots=True)
class Sweeper:
    """One pass over items; with `everything` all that is open is told, however young it is.

    Shapes: `instances` and `jobs` count what is open, as a `Share` does.
    """

    ports: Ports
    everything: bool = False
    swept: Swept = field(default_factory=Swept)
    instances: int = 0
    jobs: int = 0
    oldest: Job | None = None  # of the jobs that a worker could have: who waits the longest
    _unclaimed: dict[str, int] = field(default_factory=dict)  # messages by queue, less jobs seen

    def look_at(self, page: Iterable[Item]) -> None:
        """Tell again what of a page waits although its time has come."""
        now = self.ports.clock.now()
        waiting: list[Job] = []
        messages: list[Message] = []
        overdue: list[Message] = []
        routed: list[Message] = []
        unmet: list[Message] = []
        for item in page:
            if run_sweep.is_of_scheduled_job(item):
                overdue += run_sweep.messages_of(self.ports, item, now, everything=self.everything)
                self.swept.schedules += run_sweep.fire_again(
                    self.ports, item, now, everything=self.everything
                )
            if routing_sweep.is_routed(item):
                routed += routing_sweep.messages_of(item, now, everything=self.everything)
            if start_timers.STARTS in item:
                messages += self._overdue_starts(item, now)
            if not table.is_of_instance(item["pk"]):
                unmet += message_sweep.messages_of(
                    self.ports, item, now, everything=self.everything
                )
                continue
            match str(item["sk"])[:2]:
                case table.JOB:
                    waiting += self._waiting_jobs(item, now)
                case table.TIMER:
                    messages += self._overdue_timers(item, now)
                case other:
                    self._look_at_instance(other, item, now)
        self.swept.timers += self._tell(timers.QUEUE, messages)
        self.swept.runs += self._tell(runs.QUEUE, overdue)
        self.swept.routed += self._tell(routing.QUEUE, routed)
        self.swept.unmet += self._tell(commands.QUEUE, unmet)
        self._ring(waiting)

    def _look_at_instance(self, prefix: str, item: Item, now: datetime) -> None:
        """Tell again what is asked of an instance itself, or of a child of it."""
        if prefix == table.CHILD_WAIT:
            self._tell_of_child(item, now)
        elif prefix == table.ROOT:
            self._continue_agenda(item, now)

    def _tell(self, queue: str, messages: Sequence[Message]) -> int:
        """Send again what must have been lost; return how many."""
        if messages:
            self.ports.queues.send(queue, messages)
        self.swept.mended += 0 if self.everything else len(messages)
        return len(messages)

    def _waiting_jobs(self, item: Item, now: datetime) -> Iterator[Job]:
        job = items.to_hot_job(item)
        at = job.out_at(now)
        if job.state is not JobState.ACTIVE or at is None or job.kind == USER_TASK:
            return
        if at <= now:
            self.jobs += 1
            self.oldest = min(self.oldest or job, job, key=free_since)
        rung_for = job.ring_at or job.created_at
        if self.everything or (at <= now and rung_for < now - BELL_AGE):
            yield job

    def _ring(self, waiting: list[Job]) -> None:
        if not self.everything:
            self.swept.mended += self._count_lost(waiting)
        self.swept.jobs += ring_anew(self.ports, waiting, _out_at, jobs.ring_again)

    def _count_lost(self, waiting: Iterable[Job]) -> int:
        """Return how many of the jobs cannot have a bell, for their queues hold too few messages.

        What queues hold is asked before anything is rung; the number is SQS's estimate, and of
        bells a day old it is a good one.
        """
        lost = 0
        for job in waiting:
            queue = job_queue(self.ports, job.kind, job.type, job.profile)
            if queue not in self._unclaimed:
                self._unclaimed[queue] = self.ports.queues.count(queue)
            lost += self._unclaimed[queue] <= 0
            self._unclaimed[queue] -= 1
        return lost

    def _overdue_timers(self, item: Item, now: datetime) -> Iterator[Message]:
        """Give the messages of timers whose own must have been lost."""
        timer = items.to_record(item, {})
        assert isinstance(timer, Timer)
        if self.everything or timer.due < now - TIMER_AGE:
            # It exists, so whatever made it is committed: version 0 is never early.
            message = TimerMessage(timer.instance_key, timer.key, timer.due, 0, now)
            yield Message(timers.to_text(message), delay_s(timer.due, now))

    def _overdue_starts(self, item: Item, now: datetime) -> Iterator[Message]:
        """Give the messages of timer start events whose own must have been lost."""
        for message in waiting_starts(item, now):
            if self.everything or message.due < now - TIMER_AGE:
                yield Message(starts.to_text(message), delay_s(message.due, now))

    def _tell_of_child(self, item: Item, now: datetime) -> None:
        """Tell again what an element waits for of a child instance."""
        for message, is_lost in child_sweep.messages_of(
            self.ports, item, now, everything=self.everything
        ):
            self.ports.queues.send(commands.QUEUE, [message])
            self.swept.children += 1
            self.swept.mended += is_lost and not self.everything

    def _continue_agenda(self, item: Item, now: datetime) -> None:
        """Tell an instance to make the moves that a bounded turn left over, or, when it has ended,
        to have all its items go."""
        if "execution" not in item:
            return  # the alias of a further key block
        root = items.to_root(item)
        self.instances += root.state is InstanceState.ACTIVE
        is_old = items.touched_at(item) < now - AGENDA_AGE
        if (is_old or self.everything) and _goes_on(self.ports, root, now):
            self.swept.agendas += self._command(QueuedCommand(root.key, Continue(), now))
        elif retention.is_due(self.ports.table, item, root, now):
            self.swept.retired += self._command(QueuedCommand(root.key, Retire(), now))

    def _command(self, command: QueuedCommand) -> int:
        """Send again what an instance was told, but never did; return that it is one."""
        return self._tell(commands.QUEUE, [Message(commands.to_text(command))])


def _out_at(job: Job, now: datetime) -> datetime:
    return job.out_at(now) or now


def _goes_on(ports: Ports, root: Root, now: datetime) -> bool:
    """Say whether an instance has moves to make that wait for nothing outside."""
    if not root.agenda and not root.purges:
        return False
    definition = definitions.get(ports.table, root.definition_key)
    if definition is None:
        return False
    keys = Keys(root.blocks[-1], root.next_offset)
    given = Given(Moment(now), keys, ports.settings.limits)
    return goes_on(Draft(plan_of(definition.process), root, Instance(root), given))


def ring_all(ports: Ports) -> Swept:
    """Ring for every open job, tell each timer, agenda and row, however young they are.

    Scheduled jobs are made to fire by their schedules anew.
    """
    sweeper = Sweeper(ports, everything=True)
    for page in sweeping.whole(ports.table):
        sweeper.look_at(page)
    return sweeper.swept


def free_since(job: Job) -> datetime:
    """Return since when a worker could have had a job that nobody has."""
    return max(at for at in (job.created_at, job.retry_at, job.lock_until) if at is not None)


def report(sweeper: Sweeper) -> None:
    """Write down what was done and seen; what was mended was lost, and what waits long alarms.

    Of all types the one whose oldest job waits the longest is named: an alarm looks at one series.
    """
    swept, oldest = sweeper.swept, sweeper.oldest
    logger.info("swept", extra=asdict(swept))
    if swept.mended:
        logger.warning("mended losses", extra={"mended": swept.mended})
    if oldest is not None:
        waited = sweeper.ports.clock.now() - free_since(oldest)
        told = {"job_type": oldest.type, "job_key": oldest.key, "instance_key": oldest.instance_key}
        logger.info("oldest job", extra={**told, "waited_s": int(waited.total_seconds())})
