"""What a stage of this version leaves in its tables, to be read by later ones; see `kept`.

`python -m tests.store.keeping` writes what is not kept yet, under the number of the format, and
never touches a sample that is there.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from chalicelib import bpmn
from chalicelib.bpmn import codec
from chalicelib.ports import Item
from chalicelib.profile import Profile
from chalicelib.store.moments import from_ms, to_ms
from tests.engine import event_models as e
from tests.engine import models as m
from tests.store.left import Left, leave

KEPT = Path(__file__).parent / "kept"
PROCESSES = KEPT / f"processes_format_{codec.FORMAT}.json"
TABLES = KEPT / "tables_1.json"

_MAPPED = m.io({"amount": "=total * 2"}, {"paid": "=paid"})
_HEADERS = '<zeebe:taskHeaders><zeebe:header key="method" value="card"/></zeebe:taskHeaders>'

_LISTENED = (
    '<zeebe:executionListeners><zeebe:executionListener eventType="start" type="note"/>'
    "</zeebe:executionListeners>"
)

# Processes with every kind of element, every event, and what else a compiled one may have.
MODELS: Mapping[str, bytes] = {
    "tasks": m.line(
        m.task("plain"),
        '<manualTask id="by_hand" name="By hand"/>',
        m.service("charge", "payment:charge", extensions=_HEADERS + _MAPPED, retries="3"),
        '<sendTask id="tell"><extensionElements><zeebe:taskDefinition type="tell" '
        'retries="=tries" retryBackoff="PT1S,PT1M"/></extensionElements></sendTask>',
        m.user("approve", extensions='<zeebe:assignmentDefinition assignee="=boss"/>' + _LISTENED),
        m.receive("await", "paid"),
        m.script("count", "sum", "1 + 1"),
        m.rule("decide", "discount", resultVariable="discount"),
        m.call("pay", "payment", propagateAllChildVariables="false"),
        m.looped(m.service("again"), "i < 3", 5, before=True),
        m.many(m.service("each"), items="=orders", item="order", results="done", result="=paid"),
        m.many(m.service("row"), sequential=True, cardinality="=3", enough="=n > 1"),
        messages={"paid": "=order"},
    ),
    "gateways": m.process(
        *(m.start(), m.exclusive("x", default="x-split"), m.parallel("split")),
        m.inclusive("i", "i-a"),
        *(m.complex_("c", "activationCount > 1"), m.event_gateway("e")),
        *(m.service("a"), m.service("b"), m.catch("late", duration="PT1H")),
        *(m.message_catch("paid", "paid"), m.end()),
        flows="start > x; x > i: n > 1; x > split; i > a; i > b: n > 2; split > a; split > e; "
        "a > c; b > c; c > end; e > late; e > paid; late > end; paid > end",
        messages={"paid": "=order"},
    ),
    "events": m.process(
        *(m.start(), m.catch("at", date='=date and time("2030-01-01T00:00:00Z")')),
        *(m.signal_event("intermediateCatchEvent", "heard", "s"), m.service("work")),
        *(m.boundary("tick", "work", interrupting=False, cycle="R3/PT10M"),),
        *(m.boundary_error("broken", "work", "err"), m.boundary_error("any", "work")),
        *(m.boundary_message("paid", "work", "paid"), m.boundary_signal("told", "work", "s")),
        *(e.boundary_escalation("up", "work", "escalation1", interrupting=False),),
        *(e.boundary_condition("cond", "work", "n > 3", "n", "update"),),
        *(
            e.several(
                "boundaryEvent",
                "some",
                e.timer(duration="PT1M"),
                e.signal("s"),
                attributes='attachedToRef="work"',
            ),
        ),
        *(e.escalation_throw("raise", "escalation1"), e.link_throw("go", "over")),
        *(e.link_catch("over", "over"), m.signal_event("intermediateThrowEvent", "shout", "s")),
        *(
            e.several(
                "intermediateCatchEvent",
                "both",
                e.message("paid"),
                e.timer(date="=at"),
                attributes='parallelMultiple="true"',
            ),
        ),
        *(e.conditional_catch("when", "n > 1"), m.error_end("fails", "err"), m.end()),
        *(m.terminate("stops"), e.escalation_end("raised", "escalation1")),
        flows="start > at > heard > work > raise > go; over > shout > both > when > end; "
        "broken > fails; any > stops; up > raised; tick > end; paid > end; told > end; "
        "cond > end; some > end",
        errors={"err": "E-1", "escalation1": "X-1"},
        messages={"paid": "=order"},
        signals={"s": "sig"},
    ),
    "scopes": m.process(
        *(
            m.start(),
            m.sub(
                "inner",
                m.start("s1"),
                '<dataObject id="inner_note" name="innerNote"/>',
                e.undone(m.service("book"), m.service("undo")),
                e.compensation_throw("back", "book"),
                m.end("e1"),
                flows="s1 > book > back > e1",
                extensions=_MAPPED,
            ),
        ),
        *(
            m.transaction(
                "deal",
                m.start("s2"),
                m.service("pay"),
                e.cancel_end("cancels"),
                flows="s2 > pay > cancels",
            ),
            e.boundary_cancel("off", "deal"),
        ),
        *(
            m.event_sub(
                "on_error", e.error("err"), m.service("mend"), flows="on_error_start > mend"
            ),
            e.event_sub_of(
                "on_some",
                e.message("paid"),
                e.timer(duration="PT1H"),
                inside=m.service("look"),
                attributes='isInterrupting="false"',
            ),
        ),
        *(m.end(), e.compensation_end("all_back")),
        flows="start > inner > deal > end; off > all_back",
        errors={"err": "E-1"},
        messages={"paid": "=order"},
    ),
    "ahead": m.line(
        '<intermediateThrowEvent id="undo"><compensateEventDefinition waitForCompletion="false"/>'
        "</intermediateThrowEvent>"
    ),
    "ad_hoc": m.line(
        m.ad_hoc(
            "steered",
            m.service("look", extensions=m.io({"at": '=fromAi(toolCall.place, "where")'})),
            m.task("think"),
            flows="look > think",
            results=("seen", "found"),
            job="agent",
        ),
        m.ad_hoc(
            "listed",
            m.service("try"),
            active="steps",
            until="enough",
            attributes='cancelRemainingInstances="false" ordering="Sequential"',
        ),
    ),
    "meets": m.process(
        '<eventBasedGateway id="g" instantiate="true" eventGatewayType="Parallel"/>',
        *(m.message_catch("one", "order"), m.message_catch("other", "paid"), m.end()),
        flows="g > one > end; g > other > end",
        messages={"order": "=id", "paid": "=id"},
    ),
    "starts": m.process(
        *(
            m.message_event("startEvent", "by_message", "order"),
            m.signal_event("startEvent", "s", "s"),
        ),
        *(
            e.several("startEvent", "daily", e.timer(cycle="0 0 9 * * *")),
            m.service("work"),
            m.end(),
        ),
        flows="by_message > work > end; s > work; daily > work",
        messages={"order": None},
        signals={"s": "sig"},
    ),
}


def compiled() -> dict[str, Any]:
    """Return the models with what this version compiles of them."""
    return {
        name: {"xml": xml.decode(), "compiled": codec.to_json(bpmn.parse(xml, Profile.ZENBPM)[0])}
        for name, xml in MODELS.items()
    }


# --- tables as JSON ----------------------------------------------------------------------------

BYTES = "$bytes"  # before what is base64


class Snapshot(NamedTuple):
    """What tables held at a moment, and the keys of the instances in them by names."""

    at: datetime
    keys: dict[str, int]
    items: list[tuple[str, Item]]

    @property
    def places(self) -> set[tuple[str, str, str]]:
        """The kinds of items: the table, and what partition and sort key begin with."""
        return {(name, _kind(item["pk"]), _kind(item["sk"])) for name, item in self.items}


def taken(stage: Left) -> Snapshot:
    """Return what a stage's tables hold."""
    return Snapshot(stage.clock.now(), stage.keys, list(stage.table.all_items()))


def to_text(snapshot: Snapshot) -> str:
    """Write a snapshot as JSON text, an item a line."""
    rows = [
        json.dumps([table, item], default=_bytes, sort_keys=True) for table, item in snapshot.items
    ]
    head = f'{{"at": {to_ms(snapshot.at)}, "keys": {json.dumps(snapshot.keys)}, "items": ['
    return head + "\n" + ",\n".join(rows) + "\n]}\n"


def from_text(text: str) -> Snapshot:
    """Read what `to_text` wrote."""
    read = json.loads(text, object_hook=_read)
    items = [(table, item) for table, item in read["items"]]
    return Snapshot(from_ms(read["at"]), read["keys"], items)


def _bytes(value: object) -> dict[str, str]:
    assert isinstance(value, bytes)
    return {BYTES: base64.b64encode(value).decode()}


def _read(found: dict[str, Any]) -> Any:
    return base64.b64decode(found[BYTES]) if set(found) == {BYTES} else found


def _kind(key: object) -> str:
    """Return what a key begins with, without what it names."""
    head, mark, _ = str(key).partition("#")
    return re.sub(r"[0-9a-f]{8,}", "0", head) + mark


def main() -> None:
    """Write the samples that are not there yet."""
    kept = json.loads(PROCESSES.read_text()) if PROCESSES.exists() else {}
    more = {name: made for name, made in compiled().items() if name not in kept}
    if more:
        PROCESSES.write_text(json.dumps({**kept, **more}, indent=1) + "\n")
        sys.stdout.write(f"kept {', '.join(more)} in {PROCESSES}\n")
    if not TABLES.exists():
        TABLES.write_text(to_text(taken(leave())), encoding="utf-8")
        sys.stdout.write(f"kept {TABLES}\n")


if __name__ == "__main__":
    main()
