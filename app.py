"""Every door of Headrace: HTTP by the dialects' Blueprints, and the triggers that are not HTTP.

No logic is here. Triggers are declared on the app and nowhere else, because the handler of one in
a Blueprint bypasses it (docs/adr/0005); each unpacks its event and calls a plain function.
"""

from __future__ import annotations

from typing import Any

from chalice.app import CloudWatchEvent, Rate, SQSEvent

from chalicelib import logs, wiring
from chalicelib.api.gateway import Gateway

chosen = wiring.operator_settings()  # settings that make no sense stop the start
logs.configure(chosen)
app = Gateway("headrace", chosen.origins)
app.register_middleware(logs.invocation, "all")
logs.at_end(wiring.after_invocation)

# Each function loads what it serves and nothing else, and all of that before its first call: until
# then Lambda gives it a whole processor.
if wiring.serves("app.app"):
    from chalicelib.api import doors

    doors.register(app, only_hand_out=wiring.only_hands_out())
if wiring.serves("app.on_timers"):
    from chalicelib.triggers import timers
if wiring.serves("app.on_commands"):
    from chalicelib.triggers import commands
if wiring.serves("app.on_runs"):
    from chalicelib.triggers import runs
if wiring.serves("app.on_routing"):
    from chalicelib.triggers import routing
if wiring.serves("app.sweep"):
    from chalicelib.triggers import sweep as sweeper


# The template replaces the queues' names by those of its stage, and asks for partial answers.
@app.on_sqs_message(queue="timers", batch_size=10)
def on_timers(event: SQSEvent) -> dict[str, Any]:
    """Fire the timers that are due."""
    return again(timers.on_timers(wiring.ports(), messages(event)))


@app.on_sqs_message(queue="commands", batch_size=10)
def on_commands(event: SQSEvent) -> dict[str, Any]:
    """Do what instances owe to themselves and to others, and look through parts of a sweep."""
    return again(commands.on_commands(wiring.ports(), messages(event)))


@app.on_sqs_message(queue="runs", batch_size=1)
def on_runs(event: SQSEvent) -> dict[str, Any]:
    """Fire scheduled jobs, and make the attempts of their runs."""
    return again(runs.on_runs(wiring.ports(), messages(event), receipts(event)))


@app.on_sqs_message(queue="routing", batch_size=1)
def on_routing(event: SQSEvent) -> dict[str, Any]:
    """Handle messages in channels, and let groups of aggregators time out."""
    return again(routing.on_routing(wiring.ports(), messages(event), receipts(event)))


@app.schedule(Rate(1, unit=Rate.HOURS))
def sweep(event: CloudWatchEvent) -> None:
    """Look for what was lost."""
    sweeper.on_hour(wiring.ports())


def messages(event: SQSEvent) -> list[tuple[str, str]]:
    """Return the id and the body of each message."""
    return [(record.to_dict()["messageId"], record.body) for record in event]


def receipts(event: SQSEvent) -> dict[str, str]:
    """Return the receipt of each message by its id."""
    return {record.to_dict()["messageId"]: record.receipt_handle for record in event}


def again(message_ids: list[str]) -> dict[str, Any]:
    """Answer that only these messages are to be delivered again (ReportBatchItemFailures)."""
    return {"batchItemFailures": [{"itemIdentifier": each} for each in message_ids]}
