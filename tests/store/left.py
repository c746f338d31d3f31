"""A stage on which something of everything that is stored was left behind, and what is to come.

`leave` makes it; whoever reads a kept one, or this, lets it go on by `go_on`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.access import Role
from chalicelib.delivery import routing as routing_queue
from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.delivery.sweeps import Part
from chalicelib.engine.state import Incident, InstanceState
from chalicelib.operations import (
    api_keys,
    routes,
    routing,
    scheduled_jobs,
    sweep,
    sweep_parts,
)
from chalicelib.operations.buffering import let_wait
from chalicelib.operations.claims import Activation, activate
from chalicelib.operations.handing_out import Claimant
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.instances import Start, create_process_instance
from chalicelib.operations.messages import Message, publish_message
from chalicelib.operations.signals import broadcast_signal
from chalicelib.operations.start_quota import create_within_quota
from chalicelib.ports import Item, ItemKey, Ports, Put, Settings
from chalicelib.profile import Profile
from chalicelib.routing.messages import Message as Routed
from chalicelib.scheduler.definition import Alarm, Loop, Retry, Sink, SinkType, Watch
from chalicelib.scheduler.overlap import Overlap
from chalicelib.store.marks import Once
from chalicelib.store.sweeping import SEGMENTS
from chalicelib.triggers.routing import on_routing
from chalicelib.triggers.runs import on_runs
from tests.engine.models import (
    boundary_error,
    call,
    catch,
    end,
    error_end,
    line,
    many,
    message_catch,
    message_event,
    process,
    rule,
    service,
    signal_event,
    start,
)
from tests.fakes.firings import MemoryFirings
from tests.fakes.runner import FAILED, MemoryAlerts, Said, ScriptedRunner
from tests.operations.dmn import deploy_dmn
from tests.operations.scheduling import draft
from tests.operations.stage import TRIGGER_VISIBILITY_S, Stage
from tests.play import to_json

LARGE = "x" * 1_000  # of a variable: apart from the root, and from the job that sees it
TTL_S = 30 * 86_400
WAITS = timedelta(days=365)  # of what is buffered


class Left(Stage):
    """A stage with all ports, whose keys and ids are told by names."""

    def __init__(self, *said: Said) -> None:
        super().__init__(Settings(start_quota=1_000, history_time_to_live_s=TTL_S))
        self.runner = ScriptedRunner(self.clock, *said)
        self.firings = MemoryFirings(self.clock, self.queues)
        ports = self.ports
        self.ports: Ports = replace(
            ports, runner=self.runner, firings=self.firings, alerts=MemoryAlerts()
        )
        self.keys: dict[str, int] = {}
        self.profile = Profile.ZENBPM

    def named(self, name: str, parts: tuple[str, ...], /, **known: Any) -> int:
        """Deploy a process of that id, in a row, and start an instance of it."""
        xml = line(*parts, **known).replace(b'id="p"', f'id="{name}"'.encode())
        definition = self.deploy(xml, self.profile)
        self.keys[name] = self.create(definition, order=name, items=[1, 2], amount=550, note=LARGE)
        return self.keys[name]

    def put(self, at: datetime, items: list[tuple[str, Item]]) -> None:
        """Be the stage that left these items at a moment."""
        for table, item in items:
            place = ItemKey(table, str(item["pk"]), str(item["sk"]))
            self.table.write(Put(place, item))
        self.clock.move((at - self.clock.now()).total_seconds())

    def serve(self) -> None:
        """Let all functions serve what is visible, until nothing is."""
        self.pump()
        for queue, function in ((runs.QUEUE, on_runs), (routing_queue.QUEUE, on_routing)):
            while received := self.queues.receive(queue, 1, TRIGGER_VISIBILITY_S, 0):
                failed = function(self.ports, [(m.receipt, m.body) for m in received])
                done = [m.receipt for m in received if m.receipt not in failed]
                self.queues.delete(queue, done)

    def passes(self, seconds: int) -> None:
        """Let time pass, a minute at a time."""
        for _ in range(0, seconds, 60):
            self.clock.move(60)
            self.serve()


def leave() -> Left:
    """Make a stage and leave it in the middle of everything."""
    stage = Left(Said(output=b'{"result":{"remaining":1}}', status_code=200), FAILED)
    deploy_dmn(stage)
    _leave_instances(stage)
    _leave_events(stage)
    _leave_children(stage)
    _leave_requests(stage)
    _leave_scheduled_jobs(stage)
    _leave_routed(stage)
    api_keys.create_key(stage.ports, "charge-worker", Role.WORKER)
    for part in range(SEGMENTS):  # a census that one segment is missing of
        if part:
            sweep_parts.sweep_part(stage.ports, Part(part, SEGMENTS, stage.clock.now()))
    return stage


def _leave_instances(stage: Left) -> None:
    """An open job and its payload, a locked one, a failed one with its incident, what ended."""
    stage.named("waiting", (service("a"), service("b")))
    stage.named("locked", (service("c"),))
    stage.activate("c")
    stage.named("stuck", (service("d", retries="2"),))
    for _ in range(2):
        (job,) = stage.activate("d")
        stage.fail(job, token=job.delivery_token)
        stage.clock.move(60)
    stage.named("decided", (rule("r", "discount", resultVariable="v"), service("e")))
    stage.named("over", (service("f"),))
    stage.work("f", answer=LARGE)
    stage.pump()


def _leave_events(stage: Left) -> None:
    """A timer, a message and a signal that are waited for, and a message that waits itself."""
    stage.named("timed", (catch("late", duration="PT2H"),))
    stage.named("told", (message_catch("m", "paid"),), messages={"paid": "=order"})
    heard = signal_event("intermediateCatchEvent", "s", "sig")
    stage.named("heard", (heard,), signals={"sig": "gong"})
    let_wait(stage.ports, Message("early", "k-1", profile=Profile.ZENBPM), WAITS, "id-1", None)
    begins = process(
        *(message_event("startEvent", "m", "order"), service("g"), end()),
        flows="m > g > end",
        messages={"order": None},
    )
    for profile in (Profile.ZENBPM, Profile.PRIOSTACK):  # of which one starts one for each key
        stage.deploy(begins.replace(b'id="p"', b'id="begins"'), profile)
        publish_message(stage.ports, Message("order", "k-2", profile=profile))
    for name in ("shared", "also"):  # a key that more than one may wait for
        stage.profile = Profile.PRIOSTACK
        stage.named(name, (message_catch("m", "paid"),), messages={"paid": '="both"'})
    stage.profile = Profile.ZENBPM
    daily = process(
        '<startEvent id="t"><timerEventDefinition><timeCycle>R/PT6H</timeCycle>'
        "</timerEventDefinition></startEvent>",
        *(service("h"), end()),
        flows="t > h > end",
    )
    stage.deploy(daily.replace(b'id="p"', b'id="daily"'))


def _leave_children(stage: Left) -> None:
    """An instance that waits for a child, one whose child threw, and a body of many."""
    inner = line(service("i")).replace(b'id="p"', b'id="inner"')
    stage.deploy(inner)
    stage.named("calls", (call("c", "inner"),))
    throws = process(start(), error_end("x", "err"), flows="start > x", errors={"err": "E-1"})
    stage.deploy(throws.replace(b'id="p"', b'id="throws"'))
    stage.named("catches", (call("c", "throws"), boundary_error("b", "c")))
    body = many(service("j"), items="=items", item="item", results="done", result="=item")
    stage.named("many", (body,))
    stage.work("j")
    stage.pump()


def _leave_requests(stage: Left) -> None:
    """A request that was done once, a named activation, a client's cap, a quota."""
    once = Once("start", "a key", "a body")
    wanted = Start(bpmn_process_id="waiting", profile=Profile.ZENBPM, variables={"order": "again"})
    stage.keys["once"] = create_process_instance(stage.ports, wanted, once).key
    create_within_quota(stage.ports, wanted)
    lock = timedelta(hours=1)
    activate(stage.ports, Activation("a", Claimant("b", lock, "request-1"), 1, max_active=2))


def _leave_scheduled_jobs(stage: Left) -> None:
    """A job in a loop whose second iteration failed and is waited for, with an alarm."""
    alarm = Alarm(Watch.ALL, 1, 3_600_000, (Sink(SinkType.LOG),))
    said = {"loop": Loop(enabled=True), "overlap": Overlap.SKIP, "alarm": alarm}
    made = draft(name="looping", retry=Retry(enabled=True), **said)
    job = scheduled_jobs.create_scheduled_job(stage.ports, made)
    body = runs.to_text(Firing(job.id, job.revision, stage.clock.now()))
    assert [] == on_runs(stage.ports, [("m", body)])
    stage.serve()


def _leave_routed(stage: Left) -> None:
    """A message that rests, one on its way, a group that is open and one that was closed."""
    for name in ("in", "out", "grouped", "whole"):
        routes.put_channel(stage.ports, name, {})
    routes.put_route(stage.ports, "r", to_json({"from": "in", "steps": [{"channel": "out"}]}))
    group = {"to": "whole", "count": 2, "timeout": 3_600_000}
    routes.put_aggregator(stage.ports, "g", to_json(group))
    gathers = {"from": "grouped", "steps": [{"aggregator": "g"}]}
    routes.put_route(stage.ports, "gathers", to_json(gathers))
    for channel, id_, key in (
        ("out", "rests", None),
        *(("grouped", f"member-{n}", "whole") for n in range(2)),
        ("grouped", "member-3", "open"),
    ):
        routing.put_message(stage.ports, channel, Routed(id_, {"n": id_}, key))
    stage.serve()
    routing.put_message(stage.ports, "in", Routed("goes", {"n": 1}))


# --- and what is to come -----------------------------------------------------------------------


def go_on(stage: Left) -> dict[str, InstanceState]:
    """Let all go on to its end; return how the named instances ended."""
    sweep.ring_all(stage.ports)
    stage.passes(120)
    stage.wait(1)
    publish_message(stage.ports, Message("paid", "told", profile=Profile.ZENBPM))
    publish_message(stage.ports, Message("paid", "both", profile=Profile.PRIOSTACK))
    records = stage.instance(stage.keys["stuck"]).records.values()
    (incident,) = (each.key for each in records if isinstance(each, Incident))
    resolve_incident(stage.ports, incident, Mended(retries=1))
    broadcast_signal(stage.ports, "gong", {})
    stage.passes(3 * 3_600)
    for _ in range(3):
        for type_ in "abcefghijd":
            for job in stage.activate(type_, client="later", max_jobs=10):
                stage.complete(job)
        stage.serve()
    return {name: stage.state(key) for name, key in stage.keys.items()}
