"""Events that wait for a name: messages and signals that come while everything else happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from chalicelib.engine.state import Incident, InstanceState
from chalicelib.errors import Rejected
from chalicelib.operations import broadcasts, owed
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.profile import Profile
from chalicelib.store import instances, names
from tests.simulation import expectations, operators
from tests.simulation.clients import cancel, let_wait, one_start, publish, start
from tests.simulation.replacing import replaced
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire
from tests.simulation.world import NoAnswer

INVOICE = "i-1"
INTERRUPTING = Edit(' cancelActivity="false"', "")
AS_SIGNAL = (
    Edit(
        '<bpmn:message id="paid_message"',
        '<bpmn:signal id="paid_signal" name="alarm" /><bpmn:message id="paid_message"',
    ),
    Edit(
        '<bpmn:messageEventDefinition messageRef="paid_message" />',
        '<bpmn:signalEventDefinition signalRef="paid_signal" />',
    ),
)
ROUNDS_MAX = 12  # of a client who makes sure that nobody waits for ever
SLOW = Habits(lock=timedelta(seconds=60), work_ms=2_000)
DAY_MS = 86_400_000
LATE_MS = 400_000  # by then what a death delayed has come back: twice a visibility of 180 s
CANCEL_MS = 16  # from the start of who throws a signal to about the first page of it
ENDED = (InstanceState.COMPLETED, InstanceState.TERMINATED)
HURRY_MS = 216  # from a start to the moment at which its job is usually completed


def _workers(stage: Stage, habits: Habits | None = None) -> None:
    stage.ledger.may_loop = True
    hire(stage, "worker of charge", "charge", habits or Habits())
    hire(stage, "worker of thank", "thank")


def _publish(stage: Stage, name: str) -> None:
    publish(stage, "paid", INVOICE, name)


def _publish_soon(stage: Stage, name: str, after_ms: int = HURRY_MS) -> Callable[[int], None]:
    """Return what publishes the message about when the job is completed."""

    def act(_: int) -> None:
        stage.world.pause(max(0, after_ms + stage.world.plan.jitter_ms()))
        publish(stage, "paid", INVOICE, name)

    return act


def _published_and_completed(stage: Stage) -> None:
    """A message for the boundary comes at the moment its job is completed.

    Row 34 of the known ways to get it wrong.
    """
    one_start(stage, _publish_soon(stage, "p-1"), {"invoice": INVOICE})
    _workers(stage)


def _published_twice(stage: Stage) -> None:
    """Two messages come at the same moment, for one boundary that does not interrupt."""

    def both(_: int) -> None:
        stage.client("second", lambda: _publish(stage, "p-2"))
        publish(stage, "paid", INVOICE, "p-1")

    one_start(stage, both, {"invoice": INVOICE})
    _workers(stage, SLOW)


def _published_and_cancelled(stage: Stage) -> None:
    """A message comes at the moment the instance is cancelled."""

    def both(key: int) -> None:
        stage.client("publisher", lambda: _publish(stage, "p-1"))
        cancel(stage, key)

    one_start(stage, both, {"invoice": INVOICE})
    _workers(stage, SLOW)


def _two_arm_one_name(stage: Stage) -> None:
    """Two instances begin to wait for one message, which only one may at a time."""

    def wait_for_it() -> None:
        start(stage, {"invoice": INVOICE})

    stage.client("one", wait_for_it)
    stage.client("two", wait_for_it)
    stage.client("publisher", lambda: _let_go(stage, lambda n: _resolve_and_publish(stage, n)))


def _resolve_and_publish(stage: Stage, number: int) -> None:
    for key in sorted(stage.watch.open_roots):
        instance = instances.load(stage.inner, key, None)
        for record in instance.records.values() if instance else ():
            if isinstance(record, Incident) and record.resolved_at is None:
                resolve = partial(resolve_incident, stage.ports, record.key, Mended())
                try:
                    stage.world.request("resolve", resolve)
                except (Rejected, NoAnswer):
                    continue
    publish(stage, "paid", INVOICE, f"p-{number}")


def _let_go(stage: Stage, again: Callable[[int], object]) -> None:
    """Do something again and again until no instance is open."""
    for number in range(ROUNDS_MAX):
        stage.world.pause(1_000 if number < ROUNDS_MAX // 2 else LATE_MS)
        others = stage.clients > 1 or stage.world.echoes
        if number and not stage.watch.open_roots and not others:
            return
        again(number)


def _throw_while_two_wait(
    stage: Stage, patience_ms: int, meanwhile: Callable[[int], None] = lambda _: None
) -> None:
    """Two wait for a signal that is thrown; both are to be reached within some time, unless what
    happens `meanwhile` to the first ends it."""
    waiting: list[int] = []

    def wait_for_it() -> None:
        key = start(stage, {})
        if key is not None:
            waiting.append(key)

    def raise_alarm() -> None:
        for _ in range(ROUNDS_MAX):
            before = list(waiting)
            for key in before[:1]:
                stage.client("meanwhile", partial(meanwhile, key))
            if start(stage, {"throws": "red"}) is not None:
                break
        stage.world.pause(patience_ms)
        for key in before:
            instance = instances.load(stage.inner, key, None)
            if instance is None or instance.root.state not in ENDED:
                stage.world.complain(f"instance {key} waited for the alarm and was not reached")
        _let_go(stage, lambda _: start(stage, {"throws": "red"}))

    stage.client("one", wait_for_it)
    stage.client("two", wait_for_it, after_ms=20)
    stage.client("alarm", raise_alarm, after_ms=600)


def _broadcast(stage: Stage) -> None:
    """A signal is thrown while two wait: it reaches both, whoever dies, and nobody twice."""
    _throw_while_two_wait(stage, LATE_MS)


def _broadcast_and_cancelled(stage: Stage) -> None:
    """One of two who wait for a signal is cancelled while it comes page by page: the other one is
    reached all the same."""

    def soon(key: int) -> None:
        stage.world.pause(max(0, CANCEL_MS + stage.world.plan.jitter_ms()))
        cancel(stage, key)

    _throw_while_two_wait(stage, LATE_MS, soon)


def _broadcast_beside(stage: Stage) -> None:
    """A signal is thrown while a task waits with one beside it, which goes on waiting for more."""
    stage.ledger.may_loop = True

    def raise_alarm(_: int) -> None:
        start(stage, {"throws": "red"})

    one_start(stage, raise_alarm)
    hire(stage, "worker of charge", "charge", Habits(lock=timedelta(seconds=900), work_ms=300_000))
    hire(stage, "worker of thank", "thank")


@contextmanager
def _small_pages() -> Iterator[None]:
    """Pages of one, of two shards: sixteen are read alike."""
    with replaced(broadcasts, PAGE_MAX=1), replaced(names, SIGNAL_SHARDS=2):
        yield


def _thrown(stage: Stage) -> None:
    """A message that an instance throws comes once to one who waits, and goes on waiting."""

    def tell(_: int) -> None:
        start(stage, {"throws": True, "invoice": INVOICE})

    one_start(stage, tell, {"invoice": INVOICE})
    _workers(stage, Habits(lock=timedelta(seconds=900), work_ms=300_000))


def _armed_while_published(stage: Stage) -> None:
    """An instance begins to wait at the moment its message is published: each looks for the other.

    Another message may be needed for one whose start is not known of; nobody waits for ever.
    """

    def again() -> None:
        let_wait(stage, "paid", INVOICE, "p-0")
        if stage.ledger.published:
            stage.world.pause(LATE_MS)
            if len(stage.watch.open_roots) >= max(1, len(stage.watch.roots)):
                stage.world.complain("nobody was met by the message that waits")
        _let_go(stage, lambda n: let_wait(stage, "paid", INVOICE, f"p-{n + 1}"))

    stage.client("waiting", lambda: _start_one(stage))
    stage.client("publisher", again, after_ms=1)


def _started_one_by_one(stage: Stage) -> None:
    """Two messages of one key come at once: one starts an instance, the other when that ends."""
    for name in ("p-1", "p-2"):
        stage.client(name, lambda name=name: let_wait(stage, "paid", INVOICE, name))  # type: ignore[misc]
    hire(stage, "worker of charge", "charge", SLOW)


def _start_one(stage: Stage) -> None:
    while start(stage, {"invoice": INVOICE}) is None:
        continue


def _net_of_messages(stage: Stage) -> None:
    """An instance begins to wait for a message that was published before, and every message of
    queues is lost before it looks for that: the sweeper lets them meet."""
    lives = timedelta(days=9)

    def begin_to_wait() -> None:
        let_wait(stage, "paid", INVOICE, "p-1", lives)
        _start_one(stage)
        operators.lose_messages(stage)
        stage.world.pause(2 * DAY_MS)
        if stage.ledger.published and len(stage.watch.open_roots) == len(stage.watch.roots):
            stage.world.complain("the message that waits met nobody")
        _let_go(stage, lambda n: let_wait(stage, "paid", INVOICE, f"p-{n + 2}", lives))

    stage.client("client", begin_to_wait)
    stage.world.spawn("sweeper", lambda: operators.sweep_regularly(stage))


@contextmanager
def _nothing_inline() -> Iterator[None]:
    with operators.few_segments(), replaced(owed, INLINE_MAX=0):
        yield


def _net_of_signals(stage: Stage) -> None:
    """A signal is broadcast page by page, and whatever hands a page on is lost: the sweeper begins
    again with what is left."""
    _throw_while_two_wait(stage, 4 * DAY_MS)
    stage.world.spawn("sweeper", lambda: operators.sweep_regularly(stage))


@contextmanager
def _nothing_handed_on() -> Iterator[None]:
    with (
        operators.few_segments(),
        _small_pages(),
        replaced(broadcasts, _hand_on=lambda ports, pages: None),
    ):
        yield


SCENARIOS = (
    Scenario(
        "net-of-messages",
        "message_catch.bpmn",
        _net_of_messages,
        under=_nothing_inline,
        profile=Profile.PRIOSTACK,
        settle_ms=5 * DAY_MS,
    ),
    Scenario(
        "net-of-signals",
        "signal.bpmn",
        _net_of_signals,
        under=_nothing_handed_on,
        settle_ms=5 * DAY_MS,
    ),
    Scenario(
        "armed-while-published",
        "message_catch.bpmn",
        _armed_while_published,
        profile=Profile.PRIOSTACK,
    ),
    Scenario(
        "published-and-completed",
        "message_boundary.bpmn",
        _published_and_completed,
        (INTERRUPTING,),
        expect=expectations.met_once,
    ),
    Scenario(
        "published-twice", "message_boundary.bpmn", _published_twice, expect=expectations.met_once
    ),
    Scenario(
        "published-and-cancelled",
        "message_boundary.bpmn",
        _published_and_cancelled,
        expect=expectations.met_once,
    ),
    Scenario(
        "started-one-by-one",
        "message_start.bpmn",
        _started_one_by_one,
        expect=expectations.one_by_one,
        profile=Profile.PRIOSTACK,
    ),
    Scenario("two-arm-one-name", "message_catch.bpmn", _two_arm_one_name),
    Scenario("broadcast", "signal.bpmn", _broadcast, under=_small_pages),
    Scenario(
        "broadcast-and-cancelled", "signal.bpmn", _broadcast_and_cancelled, under=_small_pages
    ),
    Scenario(
        "broadcast-beside",
        "message_throw.bpmn",
        _broadcast_beside,
        AS_SIGNAL,
        expect=expectations.beside_once,
        under=_small_pages,
    ),
    Scenario("thrown-message", "message_throw.bpmn", _thrown, expect=expectations.thrown_once),
)
