"""The operational plane: is it alive, is it ready, what is it. Never under `/v1`."""

from __future__ import annotations

import os

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.zenbpm import errors, shapes
from chalicelib.json_text import JsonObject
from chalicelib.operations import health
from chalicelib.settings import VERSION

COMMIT_LENGTH = 12  # characters of the commit id that `/system/status` shows
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
NODE = "headrace"  # a cluster of one: what upstream spreads over nodes is AWS's here

routes = Blueprint(__name__)


@routes.route("/health/live", content_types=[])
@errors_as(errors.error)
def live() -> Response:
    """Always 200: whoever answers is alive."""
    return http.answer(200, shapes.HEALTH.write([]))


@routes.route("/health/ready", content_types=[])
@errors_as(errors.error)
def ready() -> Response:
    """200 if a request would succeed, else 503 with the reasons."""
    reasons = health.reasons_not_ready(wiring.ports())
    return http.answer(503 if reasons else 200, shapes.HEALTH.write(reasons))


@routes.route("/status", content_types=[])
@errors_as(errors.error)
def status() -> Response:
    """Say which build this is, in the shape of a cluster of one node and one partition."""
    return http.answer(200, _status())


@routes.route("/metrics", content_types=[])
@errors_as(errors.error)
def metrics() -> Response:
    """Tell what the newest sweep found open, as text for Prometheus.

    What is counted as it happens is told to CloudWatch: one function knows but its own share.
    Source: Prometheus documentation, "Exposition formats".
    """
    lines = [
        line
        for name, (told, value) in health.gauges(wiring.ports()).items()
        for line in (f"# HELP {name} {told}", f"# TYPE {name} gauge", f"{name} {value}")
    ]
    return http.Answer("".join(f"{line}\n" for line in lines), {"Content-Type": PROMETHEUS}, 200)


def _status() -> JsonObject:
    # The packager may say what it packed; without it these are unknown, not made up.
    commit = os.environ.get("HEADRACE_COMMIT", "unknown")[:COMMIT_LENGTH]
    partition = str(shapes.PARTITION)
    return {
        "git": {"branch": os.environ.get("HEADRACE_BRANCH", "unknown"), "commitId": commit},
        "build": {"version": VERSION, "time": os.environ.get("HEADRACE_BUILD_TIME", "unknown")},
        "clusterConfig": {"desiredPartitions": shapes.PARTITION},
        "partitions": {partition: {"id": shapes.PARTITION, "leaderId": NODE}},
        "nodes": {
            NODE: {
                "addr": "",
                "id": NODE,
                "partitions": {
                    partition: {
                        "id": shapes.PARTITION,
                        "role": "ROLE_TYPE_LEADER",
                        "state": "NODE_PARTITION_STATE_INITIALIZED",
                    }
                },
                "role": "ROLE_TYPE_LEADER",
                "state": "NODE_STATE_STARTED",
                "suffrage": "RAFT_SUFFRAGE_VOTER",
            }
        },
    }
