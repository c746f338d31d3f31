"""The numbered rules of the contracts, and those that cannot apply to us."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

SHARED_DEFAULT = "../shared"  # HEADRACE_SHARED names another folder

_RULE = re.compile(r"^- \**([A-Z]\d+)\b(?: \[\w\])?\**\s+(.*)$")
_NOT_APPLICABLE = re.compile(r"^Not applicable to us.*$", re.MULTILINE)
_ID = re.compile(r"\b[A-Z]\d+\b")

# Why a rule of zenbpm.md section 9 cannot apply; the groups are the section's own.
REASONS: dict[str, str] = {
    "R17": "a store in DynamoDB has no partitions that are still forming",
    "R30": "the bound is SQLite's number of parameters; our locks live on the jobs",
    "R31": "caps per partition leader: we have one store, so a cap counts everywhere",
    "R48": "there is no leader that could be unreachable or change",
    "R63": "no definitions were stored by an older engine",
    "R154": "no jobs were stored by an older engine",
    "R10": "needs the job stream",
    "R11": "needs the job stream",
    "R14": "needs the job stream",
    "R27": "needs the job stream",
    "R28": "needs the job stream",
    "R33": "needs the job stream",
    "R47": "needs the job stream",
    "R95": "needs the job stream: a claim over HTTP is the delivery",
    "R96": "needs the job stream: a claim over HTTP is the delivery",
}


@dataclass(frozen=True)
class Contract:
    """One contract: its title, the letter its rules begin with, and the file that has them."""

    title: str
    letter: str
    file: str


CONTRACTS = (
    Contract("ZenBPM", "R", "zenbpm.md"),
    Contract("Priostack", "P", "priostack.md"),
    Contract("Scheduled jobs", "Z", "scheduled-jobs.md"),
    Contract("Dialects together", "X", "dialects.md"),
)


def folder() -> Path:
    """Return where the contracts are, if they are there at all."""
    root = Path(__file__).resolve().parents[2]
    return root / os.environ.get("HEADRACE_SHARED", SHARED_DEFAULT) / "contracts"


def rules(contract: Contract, place: Path) -> dict[str, str]:
    """Return the rules of a contract by their ids, in its order; none without its file.

    Shapes: each with the first line of its text.
    """
    path = place / contract.file
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        match = _RULE.match(line)
        if match and match[1].startswith(contract.letter):
            found.setdefault(match[1], match[2].strip())
    return found


def not_applicable(contract: Contract, place: Path) -> dict[str, str]:
    """Return the rules that the contract itself marks as not applicable, with the reason."""
    path = place / contract.file
    if not path.is_file():
        return {}
    text = "\n".join(_NOT_APPLICABLE.findall(path.read_text(encoding="utf-8")))
    return {rule: REASONS.get(rule, "") for rule in _ID.findall(text) if rule[0] == contract.letter}
