"""FEEL beside feelin, and decisions of a table, in microseconds of processor time; the import."""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".peers"
sys.path.insert(0, str(ROOT))

from bench.imports import best_ms  # noqa: E402 - the path comes first
from chalicelib import dmn, feel, json_text  # noqa: E402
from tests.dmn.models import decision, definitions, given, output, table  # noqa: E402

ITEMS = [{"price": n, "quantity": 2} for n in range(1, 21)]
EXPRESSIONS: dict[str, tuple[str, dict[str, object]]] = {
    "A condition": (
        'amount > 100 and customer.tier = "gold"',
        {"amount": 250, "customer": {"tier": "gold"}},
    ),
    "B mapping over 20 items": (
        "sum(for item in items return item.price * item.quantity)",
        {"items": ITEMS},
    ),
    "C text and dates": (
        'if date(due) < date("2026-03-02") + duration("P7D") then upper case(name) else "late"',
        {"due": "2026-03-05", "name": "order"},
    ),
}
RULES = 20


def microseconds(once: Callable[[], object], seconds: float) -> float:
    """Return how long one call takes, the best of three rounds that last so long in all.

    Processor time: what else the machine does is not in it.
    """
    timer = timeit.Timer(once, timer=time.process_time)
    count, taken = timer.autorange()
    count = max(1, int(count * seconds / 3 / max(taken, 1e-9)))
    return min(timer.repeat(3, count)) / count * 1e6


def feelin(text: str, context: dict[str, object], seconds: float) -> float | None:
    """Return feelin's microseconds per evaluation, parse included; None where it cannot run."""
    if shutil.which("npm") is None:
        return None
    WORK.mkdir(exist_ok=True)
    if not (WORK / "node_modules" / "feelin").exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", WORK, "feelin"], check=True)
    script = WORK / "feelin.mjs"  # node looks for modules beside the script
    shutil.copy(Path(__file__).with_name("feelin.mjs"), script)
    ran = subprocess.run(
        ["node", script, text, json.dumps(context), str(seconds)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(json.loads(ran.stdout)["us"])


def show_expressions(seconds: float) -> None:
    print("| expression | parse µs | evaluate µs | feelin µs | times, both | times, parsed once |")
    print("|---|---:|---:|---:|---:|---:|")
    numbers = itertools.count()
    for name, (text, variables) in EXPRESSIONS.items():
        context = json_text.loads(json.dumps(variables))  # as the engine reads variables
        # A text that was never seen is in no cache, so that each call parses.
        parse = microseconds(lambda text=text: feel.parse(f"{text}//{next(numbers)}"), seconds)
        parsed = feel.parse(text)
        evaluate = microseconds(lambda p=parsed, c=context: p.evaluate(c), seconds)
        peer = feelin(text, variables, seconds)
        beside = "- | - | -"
        if peer is not None:
            both, alone = peer / (parse + evaluate), peer / evaluate
            beside = f"{peer:.1f} | {both:.1f} | {alone:.0f}"
        print(f"| {name} | {parse:.1f} | {evaluate:.2f} | {beside} |")


def table_model(rules: int) -> dmn.Model:
    """Return a decision table of two inputs with so many rules."""
    rows = [(f'"T{n}"', f"[{n}..{n + 1000}]", str(n)) for n in range(rules)]
    body = table(["tier", "amount"], [output()], rows)
    xml = definitions(
        given("tier", "string")
        + given("amount", "number")
        + decision("fee", body, inputs=["tier", "amount"])
    )
    return dmn.parse(xml)


def show_decisions(seconds: float) -> None:
    print("\n| decision table | µs per decision |\n|---|---:|")
    for rules in (RULES, 10 * RULES):
        model = table_model(rules)
        inputs = {"tier": f"T{rules - 1}", "amount": rules}
        taken = microseconds(lambda m=model, i=inputs: dmn.evaluate(m, "fee", i), seconds)
        print(f"| {rules} rules of two inputs, the last matches | {taken:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each figure (1.5)")
    args = parser.parse_args()
    show_expressions(args.seconds)
    show_decisions(args.seconds)
    empty = best_ms("pass")
    print("\n| import | ms over an empty interpreter |\n|---|---:|")
    for statement in ("import chalicelib.feel", "import chalicelib.dmn"):
        print(f"| `{statement}` | {best_ms(statement) - empty:.0f} |")


if __name__ == "__main__":
    main()
