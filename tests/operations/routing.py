"""A stage for message routing: declarations, messages, and the queue served until it is empty."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from chalicelib.delivery import routing as queue
from chalicelib.operations import routes, routing
from chalicelib.ports import Ports
from chalicelib.routing.messages import Entry, Message
from chalicelib.store.lists import Cut
from chalicelib.triggers.routing import on_routing
from tests.fakes.runner import Said, ScriptedRunner
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.play import to_json

VISIBILITY_S = 90
ROUNDS_MAX = 200


class Routing(Stage):
    """Ports in memory, and verbs that read like the domain."""

    def __init__(self, *said: Said) -> None:
        super().__init__()
        self.runner = ScriptedRunner(self.clock, *said)
        self.ports = Ports(
            self.table,
            self.queues,
            self.schedules,
            self.clock,
            self.chance,
            self.ports.settings,
            runner=self.runner,
        )

    def channels(self, *names: str) -> None:
        """Declare channels."""
        for name in names:
            routes.put_channel(self.ports, name, {})

    def route(self, source: str, *steps: dict[str, Any], name: str = "") -> None:
        """Declare the route out of a channel, which has its name unless another is given."""
        declared = to_json({"from": source, "steps": list(steps)})
        routes.put_route(self.ports, name or source, declared)

    def aggregator(self, name: str, **declared: Any) -> None:
        """Declare an aggregator."""
        routes.put_aggregator(self.ports, name, to_json(declared))

    def put(self, channel: str, id_: str, body: Any = None, key: str | None = None) -> bool:
        """Put a message; say whether it was new."""
        message = Message(id_, to_json({"body": body})["body"], key)
        return routing.put_message(self.ports, channel, message)[1]

    def served(self, after: timedelta = timedelta(0)) -> None:
        """Let time pass, then serve the queue until nothing is visible."""
        self.clock.move(after.total_seconds())
        self.schedules.fire_due()
        for _ in range(ROUNDS_MAX):
            received = self.queues.receive(queue.QUEUE, 10, VISIBILITY_S, 0)
            if not received:
                return
            failed = on_routing(self.ports, [(each.receipt, each.body) for each in received])
            done = [each.receipt for each in received if each.receipt not in failed]
            self.queues.delete(queue.QUEUE, done)
        raise AssertionError("messages go round for ever")

    def entry(self, channel: str, id_: str) -> Entry:
        """Return a message in a channel."""
        return routing.get_message(self.ports, channel, id_)[0]

    def became(self, channel: str, id_: str) -> str:
        """Return what has become of a message."""
        return self.entry(channel, id_).state.value

    def bodies(self, channel: str) -> list[Any]:
        """Return the bodies of all messages of a channel, the oldest first."""
        cut = Cut(0, 1000)
        listed = routing.list_messages(self.ports, channel, None, cut).items
        return [entry.message.body for entry, _ in reversed(listed)]

    def lose(self, name: str) -> None:
        """Let all messages of a queue be lost."""
        while received := self.queues.receive(name, 10, VISIBILITY_S, 0):
            self.queues.delete(name, [each.receipt for each in received])

    def swept(self) -> int:
        """Let the sweeper look; return how many messages it sent for what is routed."""
        return sweep_all(self.ports).routed
