"""`headrace demo`: the main job of Headrace, end to end, where one can watch it.

It deploys the order process, starts a few orders, and works their jobs with one worker that
polls over HTTP and one on Lambda that its queue wakes. Nobody takes the last job of an order,
so that its boundary timer fires.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chalicelib import bpmn, wiring
from chalicelib.bpmn.model import Element
from chalicelib.delivery import promise
from chalicelib.delivery.bells import BPMN
from chalicelib.json_text import JsonObject
from chalicelib.local import attach, elsewhere, paths
from chalicelib.local.attach import Place
from chalicelib.local.terminal import BOLD, DIM, GREEN, RED, columns, paint, say
from chalicelib.local.workers import HttpWorker, LambdaWorker
from chalicelib.profile import Profile

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "order-process"
MODEL = EXAMPLE / "order-process.bpmn"
LAMBDA_TYPE = "reserve-goods"
ORDERS = {"A-1": 40, "A-2": 250, "A-3": 99, "A-4": 120, "A-5": 15}  # business key: total
TIMEOUT_S = 60.0  # an order takes four seconds
ELSEWHERE_TIMEOUT_S = 240.0  # where each function starts a process of its own
POLL_S = 0.25
TIMERS = frozenset({"INTERMEDIATE_CATCH_EVENT", "BOUNDARY_EVENT"})


@dataclass
class Order:
    """One instance, and how much of its history was shown."""

    key: int
    name: str
    total: int
    state: str = "active"
    took_s: float = 0.0
    history: list[JsonObject] = field(default_factory=list)
    shown: set[int] = field(default_factory=set)


def demo(url: str | None, endpoint: str | None = None) -> int:
    """Run the demo; return the exit code: 0 only if every order reached its end.

    Shapes: on the server at `url`, or on a stage of its own on the emulated AWS at `endpoint`,
        else on a server of its own.
    """
    say(paint("Headrace demo: a BPMN process on emulated AWS, from deployment to its end", BOLD))
    say()
    with elsewhere.stage_on(endpoint) if endpoint else attach.own_or(url) as place:
        return _run(place, ELSEWHERE_TIMEOUT_S if endpoint else TIMEOUT_S)


def _run(place: Place, timeout_s: float) -> int:
    client = place.client
    attach.use_emulated(place.aws_endpoint, place.stage)
    elements = bpmn.parse(MODEL.read_bytes(), Profile.ZENBPM)[0].elements
    definition = client.deploy(MODEL.read_bytes())
    say(f"  server     {client.url}, on the emulated AWS at {place.aws_endpoint}")
    say(f"  deployed   {MODEL.name}, definition {definition}")
    http_worker, lambda_worker = _http_worker(place), _lambda_worker(place)
    try:
        http_worker.start()
        say(f"  workers    HTTP long poll: {', '.join(http_worker.work)}")
        say(f"             Lambda, woken by its SQS queue: {LAMBDA_TYPE}")
        orders = [_start(place, definition, name, total) for name, total in ORDERS.items()]
        say(f"  started    {len(orders)} orders: {', '.join(ORDERS)}")
        say()
        _watch(place, orders, elements, timeout_s)
    finally:
        http_worker.stop()
        lambda_worker.remove()
    _summarize(orders)
    return 0 if all(order.state == "completed" for order in orders) else 1


def _start(place: Place, definition: int, name: str, total: int) -> Order:
    variables: JsonObject = {"order": name, "total": total}
    instance = place.client.create_instance(definition, variables, business_key=name)
    return Order(int(instance["key"]), name, total)


def _http_worker(place: Place) -> HttpWorker:
    return HttpWorker(
        place.client,
        {
            "payment:charge": lambda job: {"receipt": f"R-{job['key']}"},
            "ship": lambda job: {"insured": job["headers"]["insurance"]},
        },
    )


def _lambda_worker(place: Place) -> LambdaWorker:
    """Deploy the worker on Lambda and subscribe it to the queue of its job type."""
    import boto3  # noqa: PLC0415  the environment says where

    ports = wiring.ports()
    queue = promise.job_queue(ports, BPMN, LAMBDA_TYPE, Profile.ZENBPM)
    worker = LambdaWorker(
        boto3.session.Session(), f"headrace-demo-{LAMBDA_TYPE}", EXAMPLE / "lambda_worker.py"
    )
    environment = {"HEADRACE_URL": place.client.url}
    if place.client.api_key:
        environment["HEADRACE_API_KEY"] = place.client.api_key
    worker.subscribe(ports.queues.ensure(queue), environment)
    return worker


def _watch(
    place: Place, orders: list[Order], elements: Mapping[str, Element], timeout_s: float
) -> None:
    """Show what happens until every order has ended, or the time is up."""
    began = time.monotonic()
    while time.monotonic() - began < timeout_s:
        for order in orders:
            if order.state == "active":
                order.state = str(place.client.instance(order.key)["state"])
                order.history = place.client.history(order.key)
                order.took_s = time.monotonic() - began
                _show_news(order, elements, order.took_s)
        if all(order.state != "active" for order in orders):
            return
        time.sleep(POLL_S)
    for order in orders:
        if order.state == "active":
            open_jobs = [job["type"] for job in place.client.jobs(order.key)]
            say(f"  {order.name} did not end within {timeout_s:.0f} s; its jobs: {open_jobs}")


def _show_news(order: Order, elements: Mapping[str, Element], at_s: float) -> None:
    for row in paths.completed(order.history):
        who = _who(row, elements)
        if who is None or int(row["key"]) in order.shown:
            continue
        order.shown.add(int(row["key"]))
        name = elements[str(row["elementId"])].name or str(row["elementId"])
        say(f"  {paint(f'+{at_s:4.1f} s', DIM)}  {order.name}  {name:24} {paint(who, DIM)}")


def _who(row: JsonObject, elements: Mapping[str, Element]) -> str | None:
    """Say who or what moved the order on here; None where nothing had to."""
    element = elements[str(row["elementId"])]
    if row["elementType"] in TIMERS:
        return "timer"
    if row["elementType"] == "END_EVENT":
        return "end"
    if element.job is None or element.boundary_events:
        return None  # a gateway, the start, or the job that nobody takes
    return "Lambda worker" if element.job.type.text == LAMBDA_TYPE else "HTTP worker"


def _summarize(orders: list[Order]) -> None:
    rows = [["instance", "order", "total", "state", "time", "what it did"]]
    for order in orders:
        did = ", ".join(
            str(row["elementId"])
            for row in paths.completed(order.history)
            if not str(row["elementType"]).endswith("_GATEWAY")
        )
        rows.append(
            [
                str(order.key),
                order.name,
                str(order.total),
                order.state,
                f"{order.took_s:.1f} s",
                did,
            ]
        )
    say()
    for line in columns(rows, right=frozenset({2, 4})):
        say(line)
    ended = sum(order.state == "completed" for order in orders)
    verdict = f"{ended} of {len(orders)} orders reached their end"
    say()
    say(paint(verdict, GREEN if ended == len(orders) else RED))
