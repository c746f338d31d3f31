"""Print a simulated year of costs: `make costs`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.costs import peers, year
from bench.costs.account import ASSUMED
from bench.costs.cycles import MIX, Counted, Worker, count
from bench.costs.prices import PRICES
from bench.costs.units import Unit
from bench.costs.year import BUSY_BATCH, MONTHS, POLLED, SIZES, Size

WRITE_UNITS_AIM, SQS_REQUESTS_AIM, DOLLARS_AIM = 12, 2.5, 10  # of a job, and of a million
DOORS = (Unit.REST_REQUEST, Unit.HTTP_REQUEST)
DOOR_NAMES = ("REST API", "HTTP API")
WAYS = (
    ("HTTP workers, jobs one by one", Worker.HTTP, 1),
    (f"HTTP workers, {BUSY_BATCH} jobs at a time", Worker.HTTP, BUSY_BATCH),
    ("Lambda workers, jobs one by one", Worker.LAMBDA, 1),
    (f"Lambda workers, {BUSY_BATCH} bells at a time", Worker.LAMBDA, BUSY_BATCH),
)


def main() -> None:
    for section in (_jobs, _aims, _years, _peers, _assumptions, _prices):
        print("\n".join(section()), end="\n\n")


def rows_per_million() -> list[list[str]]:
    """Return the small table of the README: dollars of a million jobs, by size and front door."""
    rows = []
    for size in (*SIZES, *POLLED):
        job = _job(size)
        ours = [f"{year.per_million(size, door):,.2f}" for door in DOORS]
        theirs = [f"{_peer_per_million(peer, size, job):,.2f}" for peer in _PEERS]
        rows.append([size.name, size.worker, *ours, *theirs])
    return rows


def readme_rows() -> list[list[float]]:
    """Return the numbers of the README: dollars of a million jobs, by size, then of more."""
    jobs = [(size, _job(size)) for size in SIZES]
    rows = [
        [
            *(year.per_million(size, door, job) for door in DOORS),
            *(_peer_per_million(peer, size, job) for peer in _PEERS),
        ]
        for size, job in jobs
    ]
    more = count(Worker.HTTP, BUSY_BATCH)
    ours = [sum(year.marginal(more, door).values()) for door in DOORS]
    return [*rows, [*ours, *rows[1][len(DOORS) :]]]


HEADER_PER_MILLION = ["a year of", "with", *DOOR_NAMES]
_PEERS = (peers.STEP_FUNCTIONS, peers.DURABLE, peers.TEMPORAL)


def _jobs() -> Iterable[str]:
    yield "What one job uses, counted: a process of three tasks in a row, start and end included"
    header = ["", "write units", "read units", "SQS requests", "API requests", "Lambda GB-s"]
    rows = [
        [
            name,
            *(
                f"{count(worker, batch).at(unit):.2f}"
                for unit in (
                    *(Unit.WRITE_UNIT, Unit.READ_UNIT, Unit.SQS_REQUEST, Unit.HTTP_REQUEST),
                    Unit.LAMBDA_GB_S,
                )
            ),
        ]
        for name, worker, batch in WAYS
    ]
    yield from table(header, rows)
    plain = count(Worker.LAMBDA, 1)
    yield f"An instance leaves {plain.stored.live:,.0f} bytes in the live table and its indexes,"
    yield f"and {plain.stored.history:,.0f} in the history. An invocation took"
    yield f"{plain.worked_ms:.1f} ms of this machine's processor, the tables in memory included."


def _aims() -> Iterable[str]:
    yield "The aims of the design, for a process of three tasks: a million jobs more"
    header = ["", "write units", "SQS requests", *(f"$ with {name}" for name in DOOR_NAMES)]
    rows = [["aim", str(WRITE_UNITS_AIM), str(SQS_REQUESTS_AIM), "", f"below {DOLLARS_AIM}"]]
    for name, worker, batch in WAYS:
        job = count(worker, batch)
        costs = [f"{sum(year.marginal(job, door).values()):.2f}" for door in DOORS]
        rows.append([name, _judged(job.at(Unit.WRITE_UNIT), WRITE_UNITS_AIM)])
        rows[-1] += [_judged(job.at(Unit.SQS_REQUEST), SQS_REQUESTS_AIM), costs[0]]
        rows[-1].append(_judged(float(costs[1]), DOLLARS_AIM))
    yield from table(header, rows)
    best = year.marginal(count(Worker.HTTP, BUSY_BATCH), Unit.HTTP_REQUEST)
    parts = sorted(best.items(), key=lambda part: -part[1])
    shown = ", ".join(f"{unit} {cost:.2f}" for unit, cost in parts if cost >= 0.01)
    yield f"{WAYS[1][0]}, HTTP API, in dollars: {shown}"


def _judged(found: float, aim: float) -> str:
    return f"{found:.2f}" if found <= aim else f"{found:.2f} (above)"


def _years() -> Iterable[str]:
    for size in (*SIZES, *POLLED):
        kept = f"{size.kept_days} days after its end" if size.kept_days else "for ever"
        yield f"A year of {size.name}, {size.worker}, an instance kept {kept}, in dollars"
        months = year.months(size)
        costs = [year.cost(size, door) for door in DOORS]
        shown = [unit for unit in Unit if any(cost.get(unit, 0) >= 0.005 for cost in costs)]
        rows = [[unit, *(f"{cost.get(unit, 0):,.2f}" for cost in costs)] for unit in shown]
        rows.append(["all of the year", *(f"{sum(cost.values()):,.2f}" for cost in costs)])
        per = [f"{year.per_million(size, door):,.2f}" for door in DOORS]
        rows.append(["a million jobs of it", *per])
        yield from table(["", *DOOR_NAMES], rows)
        yield f"In its last month {months[-1].use[Unit.TABLE_GB]:,.2f} GB are stored."
        yield ""


def _peers() -> Iterable[str]:
    yield "Beside others: dollars of a million jobs, in a year of each size"
    header = [*HEADER_PER_MILLION, *_PEERS]
    yield from table(header, rows_per_million())
    yield "Step Functions: a transition into each task and to the end. Durable functions: an"
    yield "operation for the start and each step; their compute, which is Lambda's, comes on top."
    yield "Temporal Cloud: an action for the start and each activity, in the cheaper of the plans"
    yield "Developer and Business. Ours has compute, logs, metrics, alarms and storage in it."


def _assumptions() -> Iterable[str]:
    yield "What is assumed, because no count can tell"
    said = [[name, f"{value:g}"] for name, value in ASSUMED._asdict().items()]
    said += [[f"share of {shape}", f"{share:g}"] for shape, share in MIX.items()]
    said += [
        ["seconds between two looks of Lambda into an empty queue", f"{year.POLL_S:g}"],
        ["looks at a time into each queue", str(year.POLLERS)],
        ["MB a second that a segment of the sweep scans", str(year.SCANNED_MB_S)],
        ["bytes of an event of Temporal's history", str(peers.ADDED_EVENT_BYTES)],
        ["seconds that an instance is open at Temporal", str(peers.OPEN_S)],
    ]
    yield from table(["", ""], said)


def _prices() -> Iterable[str]:
    yield "Prices: us-east-1, on demand, without free tiers and savings plans; looked up in 11/2026"
    rows = []
    for unit, price in PRICES.items():
        tiers = ", then ".join(f"{cost:g}" for _, cost in price.tiers)
        rows.append([unit, f"{tiers} per {price.per:,}", price.page, price.read_at or "there"])
    yield from table(["unit", "dollars", "the seller's page", "where the figure was read"], rows, 0)


def _job(size: Size) -> Counted:
    return year.counted(size.worker, size.batch, size.kept_days)


def _peer_per_million(peer: str, size: Size, job: Counted) -> float:
    return peers.cost(peer, size, job) / (size.jobs * MONTHS) * 1_000_000


def table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> list[str]:
    """Return lines in columns: the first `words` of them to the left (0: all), others right."""
    widths = [max(len(row[n]) for row in (header, *rows)) for n in range(len(header))]
    lines = []
    for row in (header, *rows):
        cells = [
            cell.ljust(width) if not words or number < words else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * len(max(lines, key=len)))
    return lines


if __name__ == "__main__":
    main()
