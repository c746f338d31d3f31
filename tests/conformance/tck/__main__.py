"""`make tck`: run the kit, print the report, and write `.cache/tck/tck_results.csv`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.tck.report import lines, write_results
from tests.conformance.tck.running import verdicts
from tests.house.source import ROOT

RESULTS = ROOT / ".cache" / "tck" / "tck_results.csv"


def main(kit: Path) -> int:
    """Run all cases of a kit; return 1 if there are none."""
    found = list(verdicts(kit))
    write_results(found, RESULTS)
    sys.stdout.writelines(f"{line}\n" for line in lines(found))
    if not found:
        sys.stderr.write(f"expected folders of the kit in {kit}, found none\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
