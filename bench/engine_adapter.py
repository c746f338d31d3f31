"""Headrace's adapter to the peers' benchmark: MODELS SCENARIO SECONDS -> one JSON line.

An instance is created and run to its end by `handle`, with all of its history, as a Lambda would:
a turn that leaves an agenda is continued. Nothing is stored; the state is measured as the store
would write the root.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from chalicelib import bpmn
from chalicelib.bpmn.model import Process
from chalicelib.engine.commands import Continue, CreateInstance
from chalicelib.engine.effects import Send
from chalicelib.engine.handle import handle
from chalicelib.engine.keys import FIRST_BLOCK, Keys
from chalicelib.engine.state import Instance, InstanceState, Variables
from chalicelib.engine.turn import Entered, Turn
from chalicelib.feel.moment import Moment
from chalicelib.profile import Profile
from chalicelib.store import items, quotas

PROFILE = Profile.ZENBPM


def run(process: Process, block: int, variables: dict[str, Decimal]) -> list[Turn]:
    """Run one instance to its end; return its turns."""
    command = CreateInstance(1, 1, PROFILE, variables)
    now, keys = datetime.now(UTC), Keys(block)
    turns = [handle(process, None, command, moment=Moment(now), keys=keys)]
    while any(type(effect) is Send for effect in turns[-1].effects):
        instance = turns[-1].after
        keys = Keys(block, instance.root.next_offset)
        turns.append(handle(process, instance, Continue(), moment=Moment(now), keys=keys))
    return turns


def main() -> None:
    models, scenario, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    began = time.perf_counter()
    xml = Path(models, "zeebe", f"{scenario}.bpmn").read_bytes()
    process = bpmn.parse(xml, PROFILE)[0]
    parse_ms = (time.perf_counter() - began) * 1000

    variables = {"i": Decimal(0)} if scenario == "loop100" else {}
    turns = run(process, FIRST_BLOCK, variables)
    instance = turns[-1].after
    entered = sum(type(event) is Entered for turn in turns for event in turn.history)
    if instance.root.state is not InstanceState.COMPLETED:
        raise SystemExit(f"not completed: {instance}")
    (values,) = (record.values for record in instance.records.values())  # type: ignore[union-attr]
    if scenario == "loop100" and values["i"] != 100:
        raise SystemExit(f"loop ended with {values}")
    began = time.perf_counter()
    size = state_bytes(instance)
    dump_ms = (time.perf_counter() - began) * 1000

    count, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds:
        run(process, FIRST_BLOCK + count, variables)
        count += 1
    result = {
        **{"engine": "Headrace", "scenario": scenario, "instances": count, "seconds": elapsed},
        **{"observed_nodes": entered, "parse_ms": parse_ms},
        **{"state_bytes": size, "state_dump_ms": dump_ms},
    }
    print(json.dumps(result))


def state_bytes(instance: Instance) -> int:
    """Return the size of the root as the store writes it, the variables on it included."""
    top = next(iter(instance.records.values()))
    return quotas.size_of(items.of_root(instance.root, top if isinstance(top, Variables) else None))


if __name__ == "__main__":
    main()
