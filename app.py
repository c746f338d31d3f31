"""Every door of Headrace: HTTP by the dialects' Blueprints, and the triggers that are not HTTP.

No logic is here. Triggers are declared on the app and nowhere else, because the handler of one in
a Blueprint bypasses it (docs/adr/0005); each unpacks its event and calls a plain function.
"""

from __future__ import annotations

from typing import Any

from chalice.app import CloudWatchEvent, Rate, SQSEvent

from chalicelib import logs, wiring
from chalicelib.api import authorizer, priostack, scheduler, zenbpm
from chalicelib.api.gateway import Gateway, serve_the_rest
from chalicelib.triggers import commands, routing, runs, timers
from chalicelib.triggers import sweep as sweeper

chosen = wiring.operator_settings()  # settings that make no sense stop the start
logs.configure(chosen)
app = Gateway("headrace", chosen.origins)
app.register_middleware(logs.invocation, "all")
logs.at_end(wiring.after_invocation)

authorizer.register(app)
zenbpm.register(app)
priostack.register(app)
scheduler.register(app)
serve_the_rest(
    app,
    {
        "": zenbpm.errors.error,
        priostack.PREFIX: priostack.errors.error,
        scheduler.PREFIX: scheduler.errors.error,
    },
)


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
