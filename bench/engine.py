"""The engine core beside its peers on the four scenarios of the peers' benchmark, in one run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".peers"
SCENARIOS = ("seq1", "seq10", "fork10", "loop100")


def peers_folder() -> Path:
    """Return the folder of the peers' scripts, or end with the reason."""
    folder = Path(os.environ.get("HEADRACE_SHARED", "../shared")) / "bench" / "peers"
    folder = folder if folder.is_absolute() else ROOT / folder
    if not (folder / "bench.py").exists():
        raise SystemExit(f"no peers' benchmark at {folder}: set HEADRACE_SHARED")
    return folder.resolve()


def install_peers() -> list[str]:
    """Install the peers once; return the names of those that can run here."""
    WORK.mkdir(exist_ok=True)
    python = WORK / "v" / "bin" / "python"
    if not python.exists():
        venv.create(WORK / "v", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "spiffworkflow"], check=True)
    if shutil.which("npm") is None:
        return ["SpiffWorkflow"]
    if not (WORK / "node_modules").exists():
        packages = ["bpmn-engine", "bpmn-elements", "bpmn-moddle"]
        subprocess.run(["npm", "install", "--silent", "--prefix", WORK, *packages], check=True)
    return ["SpiffWorkflow", "bpmn-engine"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    folder, peers = peers_folder(), install_peers()
    results = WORK / "results.json"
    subprocess.run(
        [
            *(sys.executable, folder / "bench.py", "--work", WORK, "--json", results),
            *("--seconds", str(args.seconds), "--repeats", str(args.repeats)),
            *("--only", ",".join(["ours", *peers])),
            *("--ours", f"{sys.executable} {ROOT / 'bench' / 'engine_adapter.py'}"),
        ],
        check=True,
        stdout=sys.stderr,
        cwd=ROOT,
    )
    print(table(json.loads(results.read_text()), peers))


def table(rows: list[dict[str, object]], peers: list[str]) -> str:
    """Lay the results out as Markdown, one scenario a row."""
    found = {(row["engine"], row["scenario"]): row for row in rows}
    head = ["scenario", "Headrace inst/s", *(f"{peer} inst/s | times" for peer in peers)]
    lines = ["| " + " | ".join([*head, "state bytes"]) + " |"]
    lines.append("|---|" + "---:|" * (2 + 2 * len(peers)))
    for scenario in SCENARIOS:
        ours = found["ours", scenario]
        cells = [scenario, f"{ours['instances_per_s']:,.0f}"]
        for peer in peers:
            theirs = found[peer, scenario]["instances_per_s"]
            cells += [f"{theirs:,.1f}", f"{ours['instances_per_s'] / theirs:.1f}"]  # type: ignore[operator]
        lines.append("| " + " | ".join([*cells, f"{ours['state_bytes'] or 0:,}"]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
