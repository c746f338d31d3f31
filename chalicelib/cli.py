"""The command `headrace`: every subcommand, its options, and its exit code.

Exit codes: 0 done; 1 it could not be done, said in one line; 2 wrong use; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from chalicelib.errors import HeadraceError
from chalicelib.local import stages
from chalicelib.settings import VERSION, BadSetting

FAILED, INTERRUPTED = 1, 130
STATE = ".headrace"
RUN_TIMEOUT_S = 60.0
SIGNAL_POLL_S = 0.1


def main() -> None:
    """Run the command of this process, and end the process."""
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything was ended and saved; but the interpreter would wait for threads of the emulator.
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)  # what was started is ended on the way out
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except _expected() as error:
        print(f"headrace: {error}", file=sys.stderr)  # noqa: T201
        return FAILED


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _expected() -> tuple[type[Exception], ...]:
    """Return what is told in one line; anything else is our mistake and shows where it is."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    from chalicelib.local import attach, client, deploying, server  # noqa: PLC0415
    from chalicelib.local.run import BadInput  # noqa: PLC0415
    from infra.deploy import DeploymentFailed  # noqa: PLC0415
    from infra.redrive import NotMoved  # noqa: PLC0415

    return (
        HeadraceError,
        BadSetting,
        attach.NotFound,
        client.Refused,
        client.Unreachable,
        BadInput,
        server.StartFailed,
        deploying.NotDone,
        DeploymentFailed,
        NotMoved,
        BotoCoreError,
        ClientError,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="headrace", description="A BPMN workflow engine with no servers."
    )
    parser.add_argument("--version", action="version", version=f"headrace {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run a server on emulated AWS, until it is ended")
    serve.add_argument("--port", type=_port, default=8080, help="of HTTP (8080)")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    kept = serve.add_mutually_exclusive_group()
    kept.add_argument("--state-dir", type=Path, default=Path(STATE), help=f"({STATE})")
    kept.add_argument("--ephemeral", action="store_true", help="keep nothing")
    serve.set_defaults(command=_serve)

    demo = commands.add_parser("demo", help="watch a process run, from deployment to its end")
    where = demo.add_mutually_exclusive_group()
    where.add_argument("--url", help="of a running server; without it one is started for the demo")
    where.add_argument("--endpoint-url", metavar="URL", help="of an emulated AWS that is running")
    demo.set_defaults(command=_demo)

    model = commands.add_parser("run", help="run one instance of a model, completing its jobs")
    model.add_argument("file", type=Path, metavar="FILE.bpmn")
    model.add_argument("--variables", default="{}", metavar="JSON", help="to start with ({})")
    model.add_argument("--url", help="of a running server; without it one is started")
    model.add_argument(
        "--timeout", type=float, default=RUN_TIMEOUT_S, metavar="SECONDS", help="(60)"
    )
    model.set_defaults(command=_run)

    ring = commands.add_parser(
        "ring", help="ring again for every open job, and put schedules right"
    )
    ring.add_argument("--all", action="store_true", required=True, help="of this stage")
    _place(ring)
    ring.set_defaults(command=_ring)

    queue = commands.add_parser("queue", help="make the queue of a job type and print its ARN")
    queue.add_argument("type", metavar="TYPE")
    _place(queue)
    queue.set_defaults(command=_queue)

    _add_linting(commands)
    _add_operating(commands)
    _add_keys(commands)
    stages.add(commands)
    _add_deciding(commands)
    return parser


def _add_linting(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lint = commands.add_parser(
        "lint",
        help="print all that is wrong with models, and what to look at again",
        epilog="Exit codes: 0 they can be deployed; 1 one would be refused, or cannot be read, "
        "or, with --strict, has a warning.",
    )
    lint.add_argument("files", nargs="+", type=Path, metavar="FILE.bpmn")
    lint.add_argument(
        "--profile", choices=("zenbpm", "priostack"), default="zenbpm", help="(zenbpm)"
    )
    lint.add_argument("--strict", action="store_true", help="let warnings count")
    lint.set_defaults(command=_lint)


def _add_operating(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    incidents = commands.add_parser("incidents", help="list what waits for an operator")
    incidents.add_argument("--process", metavar="ID", help="of this process only")
    _place(incidents)
    incidents.set_defaults(command=_incidents)

    resolve = commands.add_parser("resolve", help="let what an incident stopped try again")
    resolve.add_argument(
        "incidents",
        nargs="+",
        type=int,
        metavar="KEY",
        help="of an incident, or of an instance for all that are open in it",
    )
    resolve.add_argument("--retries", type=int, metavar="N", help="of the job that waits")
    resolve.add_argument("--variables", default="{}", metavar="JSON", help="to set before")
    _place(resolve)
    resolve.set_defaults(command=_resolve)

    release = commands.add_parser("release-holds", help="free jobs that are held without an end")
    _place(release)
    release.set_defaults(command=_release_holds)


def _add_keys(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    keys = commands.add_parser("keys", help="make, list and revoke API keys")
    actions = keys.add_subparsers(required=True, metavar="ACTION", dest="action")
    create = actions.add_parser("create", help="make a key and print it, this once")
    create.add_argument("name", metavar="NAME", help="whose it is; it stands in the log")
    create.add_argument("--role", required=True, choices=("worker", "starter", "operator"))
    listing = actions.add_parser("list", help="list the keys by name, role and age")
    revoke = actions.add_parser("revoke", help="let a key open nothing any more")
    revoke.add_argument("name", metavar="NAME", help="or its id")
    for action in (create, listing, revoke):
        _place(action)
        action.set_defaults(command=_keys)


def _add_deciding(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    feel = commands.add_parser("feel", help="evaluate a FEEL expression and print its value")
    feel.add_argument("expression", metavar="EXPR", help="without a leading '='")
    feel.add_argument("--context", default="{}", metavar="JSON", help="its variables ({})")
    feel.add_argument("--profile", choices=("zeebe", "dmn"), default="zeebe", help="(zeebe)")
    feel.set_defaults(command=_feel)

    dmn = commands.add_parser("dmn", help="make a decision of a DMN file and print it")
    dmn.add_argument("file", type=Path, metavar="FILE.dmn")
    dmn.add_argument("--decision", required=True, metavar="ID", help="its id or name")
    dmn.add_argument("--input", default="{}", metavar="JSON", help="what is given to it ({})")
    dmn.add_argument(
        "--import",
        action="append",
        default=[],
        type=Path,
        metavar="FILE.dmn",
        dest="imports",
        help="that the file imports; may be repeated, a file behind those it imports",
    )
    dmn.add_argument("--audit", action="store_true", help="print how it was decided, too")
    dmn.set_defaults(command=_dmn)


def _place(parser: argparse.ArgumentParser) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--state-dir", type=Path, default=Path(STATE), help=f"of the running server ({STATE})"
    )
    place.add_argument("--stage", help="on AWS, with the credentials of the environment")


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, found {text!r}")
    return int(text)


def _serve(options: argparse.Namespace) -> int:
    from chalicelib.local.server import API_KEY, Options, Server  # noqa: PLC0415

    ready, ending = threading.Event(), threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ending.set()
        if not ready.is_set():
            _interrupt(number, frame)  # what is imported or called back may swallow that

    state = None if options.ephemeral else options.state_dir.resolve()
    key = os.environ.get(API_KEY) or None
    server = Server(Options(options.host, options.port, state, key))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    server.start()  # which a signal interrupts
    try:
        ready.set()
        if ending.is_set():
            return INTERRUPTED
        print(f"Headrace is ready at {server.url}", flush=True)  # noqa: T201
        while not ending.wait(SIGNAL_POLL_S):
            pass  # a signal that meets another thread does not wake this one by itself
    finally:
        server.stop()
    return 0


def _demo(options: argparse.Namespace) -> int:
    from chalicelib.local.demo import demo  # noqa: PLC0415

    return demo(options.url, options.endpoint_url)


def _run(options: argparse.Namespace) -> int:
    from chalicelib.local import run as models  # noqa: PLC0415

    return models.run(options.file, options.variables, options.url, options.timeout)


def _lint(options: argparse.Namespace) -> int:
    from chalicelib.local.lint import lint  # noqa: PLC0415
    from chalicelib.profile import Profile  # noqa: PLC0415

    return lint(options.files, Profile(options.profile), strict=options.strict)


def _ring(options: argparse.Namespace) -> int:
    from chalicelib import wiring  # noqa: PLC0415
    from chalicelib.operations import sweep  # noqa: PLC0415

    _attach(options)
    told = sweep.ring_all(wiring.ports())
    line = f"rang {told.jobs} jobs, put {told.schedules} schedules right, told {told.runs} runs"
    print(f"{line} and {told.routed} routed messages")  # noqa: T201
    return 0


def _queue(options: argparse.Namespace) -> int:
    from chalicelib import wiring  # noqa: PLC0415
    from chalicelib.delivery import bells, promise  # noqa: PLC0415
    from chalicelib.profile import Profile  # noqa: PLC0415

    _attach(options)
    ports = wiring.ports()
    name = promise.job_queue(ports, bells.BPMN, options.type, Profile.ZENBPM)
    print(ports.queues.ensure(name))  # noqa: T201
    return 0


def _incidents(options: argparse.Namespace) -> int:
    from chalicelib import wiring  # noqa: PLC0415
    from chalicelib.local import operate  # noqa: PLC0415

    _attach(options)
    return operate.show_incidents(wiring.ports(), options.process)


def _resolve(options: argparse.Namespace) -> int:
    from chalicelib import wiring  # noqa: PLC0415
    from chalicelib.local import operate, run  # noqa: PLC0415
    from chalicelib.operations.incidents import Mended  # noqa: PLC0415

    mended = Mended(retries=options.retries, variables=run.json_object(options.variables))
    _attach(options)
    return operate.resolve_incidents(wiring.ports(), options.incidents, mended)


def _keys(options: argparse.Namespace) -> int:
    from chalicelib import wiring  # noqa: PLC0415
    from chalicelib.local import operate  # noqa: PLC0415

    _attach(options)
    if options.action == "create":
        return operate.create_key(wiring.ports(), options.name, options.role)
    if options.action == "revoke":
        return operate.revoke_key(wiring.ports(), options.name)
    return operate.show_keys(wiring.ports())


def _feel(options: argparse.Namespace) -> int:
    from chalicelib.local import decide, run  # noqa: PLC0415

    context = run.json_object(options.context, "--context")
    return decide.show_value(options.expression, context, options.profile)


def _dmn(options: argparse.Namespace) -> int:
    from chalicelib.local import decide, run  # noqa: PLC0415

    given = run.json_object(options.input, "--input")
    model = decide.read_model(options.file, options.imports)
    return decide.show_decision(model, options.decision, given, audit=options.audit)


def _release_holds(options: argparse.Namespace) -> int:
    from chalicelib import wiring  # noqa: PLC0415
    from chalicelib.operations import holds  # noqa: PLC0415

    _attach(options)
    print(f"released {holds.release_holds(wiring.ports())} holds")  # noqa: T201
    return 0


def _attach(options: argparse.Namespace) -> None:
    from chalicelib.local import attach  # noqa: PLC0415

    if options.stage:
        attach.use_stage(options.stage)
    else:
        attach.use_local(options.state_dir)


if __name__ == "__main__":
    main()
