"""The pages are there, short, and their links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import ROOT

PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "docs/architecture.md",
    "docs/glossary.md",
)
ARCHITECTURE_LINES_MAX = 140  # about two pages
ADR_LINES_MAX = 60  # under a page

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def markdown() -> list[Path]:
    return [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("*/README.md")]


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Yield the relative links of a page that lead nowhere."""
    for target in _LINK.findall(text):
        is_outside = "://" in target or target.startswith("mailto:")
        if not is_outside and not (page.parent / target).exists():
            yield f"{page.relative_to(ROOT)}: {target}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_a_newcomer_looks_for_is_there(page: str) -> None:
    assert (ROOT / page).is_file()


def test_links_between_pages_lead_somewhere() -> None:
    assert [] == [link for page in markdown() for link in broken_links(page, page.read_text())]


def test_decisions_are_numbered_in_a_row_and_short() -> None:
    decisions = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))

    assert [f"{n:04}" for n in range(1, len(decisions) + 1)] == [d.name[:4] for d in decisions]
    assert [] == [d.name for d in decisions if len(d.read_text().splitlines()) > ADR_LINES_MAX]


def test_the_architecture_stays_two_pages() -> None:
    page = ROOT / "docs" / "architecture.md"
    assert ARCHITECTURE_LINES_MAX >= len(page.read_text().splitlines())


def test_every_room_is_on_the_architecture_page() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = {path.parent.name for path in (ROOT / "chalicelib").glob("*/__init__.py")}
    rooms = {room for room in rooms if any((ROOT / "chalicelib" / room).glob("[!_]*.py"))}
    assert set() == {room for room in rooms if f"{room}/" not in text}


def test_a_broken_link_is_found() -> None:
    assert 1 == len(list(broken_links(ROOT / "README.md", "see [this](docs/none.md#a)")))
