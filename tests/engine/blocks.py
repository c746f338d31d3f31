"""Random processes of blocks: each has one way in and one way out, so that it can always end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Any

from hypothesis import strategies as st

from tests.engine import event_models as ev
from tests.engine import models as m
from tests.engine import tasks

# A tree: a leaf is its kind, a block its kind and those inside.
Block = Any

LEAVES = (
    *("task", "service", "script", "mapped", "undone", "link", "call"),
    *("catch", "message", "signal", "condition", "race"),
    *("caught", "late", "told", "beside", "beside signal"),
    *("heard", "user", "heard race", "heard late", "calls", "calls in turn"),
)
AROUND = (
    *("sequence", "fork", "some", "first", "choice", "loop"),
    *("sub", "sub late", "sub left", "sub handled", "sub mended", "sub beside", "sub told"),
    *("sub failing", "sub raising", "sub escalating", "sub stopped"),
    *("tx", "tx twice", "tx each", "tx all", "sub undone", "sub recovered"),
    *("sub heard", "sub watched", "sub turned"),
    *("twice", "each", "all", "enough", "all heard"),
    *("ad hoc", "ad hoc turns", "ad hoc enough", "agent"),
)
BLOCKS: st.SearchStrategy[Block] = st.recursive(
    st.sampled_from(LEAVES).map(lambda kind: (kind,)),
    lambda inner: st.tuples(st.sampled_from(AROUND), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)
ERRORS = {"e1": "E", "escalation1": "X"}
SIGNALS = {"s": "go"}
ENOUGH = 2  # a condition or a cancel end is about `c`, which everybody sets from 0 to this

# What is at both ends of a block of branches, and what each branch but the first asks for.
GATEWAYS: dict[str, tuple[Any, str]] = {
    "fork": (m.parallel, ""),
    "some": (m.inclusive, ": c >= {}"),
    "first": (m.complex_, ""),
    "choice": (m.exclusive, ": c = {}"),
}
HEARD = tasks.heard_at("start", "end")
USER_HEARD = tasks.FREE + tasks.CLAIMED + tasks.listeners("creating", "completing", "canceling")
MANY: dict[str, Callable[[str], str]] = {
    "twice": lambda drawn: m.looped(drawn, None, 2),
    "each": lambda drawn: m.many(drawn, sequential=True, items="=[1, 2]", item="i"),
    "all": lambda drawn: m.many(drawn, items="=[1, 2, 3]", results="r", result="=c"),
    "all heard": lambda drawn: m.many(drawn, items="=[1, 2]", results="r", result="=c"),
    "enough": lambda drawn: m.many(
        drawn, cardinality="=3", enough="=numberOfCompletedInstances >= 2"
    ),
}
AD_HOC: dict[str, dict[str, Any]] = {
    "ad hoc": {"results": ("found", "c")},
    "ad hoc turns": {"attributes": 'ordering="Sequential"'},
    "ad hoc enough": {"results": ("found", "c"), "until": "count(found) >= 2"},
    "agent": {"job": "agent", "results": ("found", "c")},
}
# What triggers an event subprocess, and whether it interrupts.
HANDLED: dict[str, tuple[str, bool]] = {
    "sub handled": (ev.timer(duration="PT9S"), True),
    "sub mended": (ev.error(), True),
    "sub beside": (ev.timer(cycle="R2/PT4S"), False),
    "sub told": (ev.signal("s"), False),
    "sub watched": (ev.conditional(f"c = {ENOUGH}"), True),
    "sub turned": (ev.conditional(f"c = {ENOUGH}"), False),
}


class Drawing:
    """Draws a block tree as BPMN; each block answers its way in and its way out."""

    def __init__(self, outer: Drawing | None = None) -> None:
        self.numbers: Iterator[int] = count() if outer is None else outer.numbers
        self.messages: dict[str, str | None] = {} if outer is None else outer.messages
        self.parts: list[str] = []
        self.flows: list[str] = []

    def draw(self, block: Block) -> tuple[str, str]:
        kind, inner = block[0], block[1] if len(block) > 1 else []
        name = f"{kind.replace(' ', '_')}{next(self.numbers)}"
        if kind in GATEWAYS or kind in AD_HOC:
            make = self._around if kind in GATEWAYS else self._ad_hoc
            return make(name, kind, inner)
        match kind:
            case "sequence":
                return self.sequence(inner)
            case "loop":
                return self._loop(name, inner)
            case _ if inner:
                return self._scope(name, kind, inner)
            case _:
                return self._leaf(kind, name)

    def sequence(self, inner: list[Block]) -> tuple[str, str]:
        ends = [self.draw(block) for block in inner]
        for (_, before), (following, _) in pairwise(ends):
            self.flows.append(f"{before} > {following}")
        return ends[0][0], ends[-1][1]

    def _message(self, name: str) -> str:
        self.messages[name] = "=k"
        return name

    # --- leaves ----------------------------------------------------------------------------

    def _leaf(self, kind: str, name: str) -> tuple[str, str]:
        mapped = m.io({"l.x": "=c", "c": "=c"}, {"c": "=c", "o.p": "=l.x"})
        drawn: dict[str, Callable[[], str]] = {
            "task": lambda: m.task(name),
            "service": lambda: m.service(name, retries="2"),
            "heard": lambda: m.service(name, extensions=HEARD),
            "user": lambda: m.user(name, extensions=USER_HEARD),
            "calls": lambda: MANY["all"](m.call(name, "other")),
            "calls in turn": lambda: MANY["each"](m.call(name, "other", extensions=HEARD)),
            "mapped": lambda: m.service(name, extensions=mapped),
            "script": lambda: m.script(name, "c", "if c = null or c >= 2 then 0 else c + 1"),
            "catch": lambda: m.catch(name, duration="PT5S"),
            "message": lambda: m.receive(name, self._message(name)),
            "signal": lambda: m.signal_event("intermediateCatchEvent", name, "s"),
            "condition": lambda: ev.conditional_catch(name, f"c = {ENOUGH}"),
        }
        if kind in drawn:
            self.parts.append(drawn[kind]())
            return name, name
        match kind:
            case "undone":
                again = ev.undone(m.service(name), m.service(f"{name}_u"))
                self.parts += [again, ev.compensation_throw(f"{name}_th")]
                self.flows.append(f"{name} > {name}_th")
                return name, f"{name}_th"
            case "link":
                self.parts += [ev.link_throw(name, name), ev.link_catch(f"{name}_to", name)]
                return name, f"{name}_to"
            case "race" | "heard race":
                return self._race(name, HEARD if kind == "heard race" else "")
            case _:
                return self._bounded(kind, name)

    def _race(self, name: str, heard: str) -> tuple[str, str]:
        """Whatever comes first, behind an event-based gateway."""
        after = f"{name}_out"
        self.parts += [
            m.event_gateway(name),
            m.catch(f"{name}_t", duration="PT6S"),
            m.message_catch(f"{name}_m", self._message(name), extensions=heard),
            m.signal_event("intermediateCatchEvent", f"{name}_s", "s", extensions=heard),
            ev.conditional_catch(f"{name}_c", f"c = {ENOUGH}", extensions=heard),
            m.exclusive(after),
        ]
        self.flows += [f"{name} > {name}_{each} > {after}" for each in "tmsc"]
        return name, after

    def _bounded(self, kind: str, name: str) -> tuple[str, str]:
        """An activity with a boundary event that leads out too, or beside."""
        after, event = f"{name}_out", f"{name}_b"
        activity = m.call(name, "other") if kind == "call" else m.service(name)
        if kind == "heard late":
            activity = m.user(name, extensions=USER_HEARD)
        events = {
            "call": lambda: m.boundary_error(event, name),
            "caught": lambda: m.boundary_error(event, name),
            "late": lambda: m.boundary(event, name, duration="PT7S"),
            "heard late": lambda: m.boundary(event, name, duration="PT3S"),
            "told": lambda: m.boundary_message(event, name, self._message(name)),
            "beside": lambda: m.boundary(event, name, interrupting=False, cycle="R3/PT3S"),
            "beside signal": lambda: m.boundary_signal(event, name, "s", interrupting=False),
        }
        self.parts += [activity, m.exclusive(after), events[kind]()]
        self.flows += [f"{name} > {after}", f"{event} > {after}"]
        if kind.startswith("beside"):  # its token ends on its own
            self.parts.append(m.task(f"{name}_t"))
            self.flows[-1] = f"{event} > {name}_t"
        return name, after

    # --- branches and rounds ---------------------------------------------------------------

    def _around(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        split, join = f"{name}_in", f"{name}_out"
        ends = [self.draw(block) for block in inner]
        gateway, says = GATEWAYS[kind]
        first = m.exclusive(split, f"{split}-{ends[0][0]}") if kind == "choice" else gateway(split)
        self.parts += [first, gateway(join)]
        for number, (first, last) in enumerate(ends):
            condition = says.format(number) if number else ""
            self.flows += [f"{split} > {first}{condition}", f"{last} > {join}"]
        return split, join

    def _loop(self, name: str, inner: list[Block]) -> tuple[str, str]:
        """At most three rounds, counted in a variable of its own."""
        again, split, counter = f"{name}_in", f"{name}_out", f"{name}_n"
        first, last = self.sequence(inner)
        plus = f"(if {counter} = null then 0 else {counter}) + 1"
        self.parts += [
            m.exclusive(again),
            m.script(f"{name}_s", counter, plus),
            m.exclusive(split, f"{split}-{name}_e"),
            m.task(f"{name}_e"),
        ]
        self.flows += [
            f"{again} > {first}",
            f"{last} > {name}_s > {split}",
            f"{split} > {again}: {counter} < 3",
            f"{split} > {name}_e",
        ]
        return again, f"{name}_e"

    # --- scopes ----------------------------------------------------------------------------

    def _scope(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        match kind:
            case "tx" | "tx twice" | "tx each" | "tx all":
                return self._transaction(name, kind.removeprefix("tx").strip(), inner)
            case "sub undone" | "sub recovered":
                return self._compensated(name, kind, inner)
            case _:
                return self._sub(name, kind, inner)

    def _compensated(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        """It is done for two, and all is undone behind it: by the handler of a task inside, or by
        an event subprocess that asks for that."""
        inside = Drawing(self)
        first, last = inside.sequence(inner)
        done = ev.undone(m.task(f"{name}_t"), m.service(f"{name}_u"))
        parts = [m.start(f"{name}_si"), *inside.parts, done, m.end(f"{name}_se")]
        if kind == "sub recovered":
            asks = [m.service(f"{name}_hs"), ev.compensation_throw(f"{name}_hth")]
            flows = f"{name}_h_start > {name}_hs > {name}_hth"
            parts.append(m.event_sub(f"{name}_h", ev.compensation(), *asks, flows=flows))
        flows = "; ".join([f"{name}_si > {name}_t > {first}", f"{last} > {name}_se", *inside.flows])
        drawn = MANY["all"](m.sub(name, *parts, flows=flows))
        self.parts += [drawn, ev.compensation_throw(f"{name}_th")]
        self.flows.append(f"{name} > {name}_th")
        return name, f"{name}_th"

    def _transaction(self, name: str, repeat: str, inner: list[Block]) -> tuple[str, str]:
        """It is undone and left by its cancel event if c is 1 in the end."""
        inside = Drawing(self)
        first, last = inside.sequence(inner)
        split, after = f"{name}_x", f"{name}_out"
        done = ev.undone(m.task(f"{name}_t"), m.service(f"{name}_u"))
        parts = [m.start(f"{name}_i"), *inside.parts, done, m.exclusive(split, f"{split}-{name}_e")]
        parts += [m.end(f"{name}_e"), ev.cancel_end(f"{name}_cancelled")]
        flows = [f"{name}_i > {name}_t > {first}", f"{last} > {split}", *inside.flows]
        flows += [f"{split} > {name}_e", f"{split} > {name}_cancelled: c = 1"]
        drawn = m.transaction(name, *parts, flows="; ".join(flows))
        self.parts.append(MANY[repeat](drawn) if repeat else drawn)
        self.parts += [ev.boundary_cancel(f"{name}_b", name), m.exclusive(after)]
        self.flows += [f"{name} > {after}", f"{name}_b > {after}"]
        return name, after

    def _ad_hoc(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        """Each block can be activated; all are, and the first one twice, unless a worker says."""
        inside = Drawing(self)
        tasks = [f"{name}_a{number}" for number in range(len(inner))]
        for task, block in zip(tasks, inner, strict=True):
            inside.flows.append(f"{task} > {inside.draw(block)[0]}")
        ids = ", ".join(f'"{task}"' for task in (*tasks, tasks[0]))
        listed = None if kind == "agent" else f"[{ids}]"
        parts = [*map(m.task, tasks), *inside.parts]
        flows, more = "; ".join(inside.flows), AD_HOC[kind]
        self.parts.append(m.ad_hoc(name, *parts, flows=flows, active=listed, **more))
        return name, name

    def _sub(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        inside = Drawing(self)
        first, last = inside.sequence(inner)
        parts = [m.start(f"{name}_si"), *inside.parts, m.end(f"{name}_se")]
        flows = [f"{name}_si > {first}", *inside.flows]
        more_parts, more_flows = _inside(name, kind, last)
        heard = HEARD if "heard" in kind else ""
        flows_inside = "; ".join([*flows, *more_flows])
        drawn = m.sub(name, *parts, *more_parts, flows=flows_inside, extensions=heard)
        self.parts.append(MANY[kind](drawn) if kind in MANY else drawn)
        event = self._on_sub(name, kind)
        if event is None:
            return name, name
        after = f"{name}_out"
        self.parts += [event, m.exclusive(after)]
        self.flows += [f"{name} > {after}", f"{name}_b > {after}"]
        if kind == "sub escalating":  # its token ends on its own
            self.parts.append(m.task(f"{name}_t"))
            self.flows[-1] = f"{name}_b > {name}_t"
        return name, after

    def _on_sub(self, name: str, kind: str) -> str | None:
        """Return the boundary event of a subprocess, if it has one."""
        event = f"{name}_b"
        match kind:
            case "sub late":
                return m.boundary(event, name, duration="PT11S")
            case "sub left":
                return m.boundary_message(event, name, self._message(name))
            case "sub failing" | "all":
                return m.boundary_error(event, name)
            case "sub raising":
                return ev.boundary_escalation(event, name, "escalation1")
            case "sub escalating":
                return ev.boundary_escalation(event, name, interrupting=False)
            case _:
                return None


def _inside(name: str, kind: str, last: str) -> tuple[list[str], list[str]]:
    """Return what else is inside of a subprocess of a kind, and its flows from the last block."""
    end = f"{name}_se"
    if kind in HANDLED:
        trigger, interrupts = HANDLED[kind]
        inner = m.service(f"{name}_hs")
        handler = m.event_sub(
            *(f"{name}_h{'x' if interrupts else ''}", trigger, inner),
            flows=f"{name}_h{'x' if interrupts else ''}_start > {name}_hs",
            interrupting=interrupts,
        )
        return [handler], [f"{last} > {end}"]
    split = m.exclusive(f"{name}_x", f"{name}_x-{end}")
    chosen = [f"{last} > {name}_x", f"{name}_x > {end}", f"{name}_x > {name}_thrown: c = 1"]
    match kind:
        case "sub failing":
            return [split, m.error_end(f"{name}_thrown", "e1")], chosen
        case "sub raising":
            return [split, ev.escalation_end(f"{name}_thrown", "escalation1")], chosen
        case "sub escalating":
            thrown = ev.escalation_throw(f"{name}_th", "escalation1")
            return [thrown], [f"{last} > {name}_th > {end}"]
        case "sub stopped":
            parts = [m.parallel(f"{name}_p"), m.service(f"{name}_w"), m.terminate(f"{name}_stop")]
            flows = [f"{last} > {name}_p > {end}", f"{name}_p > {name}_w > {name}_stop"]
            return parts, flows
        case _:
            return [], [f"{last} > {end}"]


# The ends of the ids of elements that end all else in the scope that they are in.
ENDING = ("_hx", "_cancelled", "_thrown", "_stop")


def drawn(block: Block) -> bytes:
    """Return a process of a block tree."""
    drawing = Drawing()
    first, last = drawing.draw(block)
    parts = [m.start(), *drawing.parts, m.end()]
    flows = [f"start > {first}", f"{last} > end", *drawing.flows]
    return m.process(
        *parts,
        flows="; ".join(flows),
        errors=ERRORS,
        messages=drawing.messages,
        signals=SIGNALS,
    )
