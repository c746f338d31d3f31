"""What gjson itself answers: pairs of documents and paths that were put to gjson 1.18.0 in Go.

The paths are those of the contract's tables with small changes at random, so many of them make
little sense; what they give is held to all the same. `measured.json` lists the document, the path,
the type of the result (null if absent) and its raw text.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chalicelib.scheduler.gjson import get
from tests.scheduler.gjson.documents import LINES, D, Q, V, W

DOCUMENTS = {"D": D, "LINES": LINES, "Q": Q, "V": V, "W": W}
MEASURED = json.loads(Path(__file__).with_name("measured.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_path_leads_to_what_gjson_itself_answers(name: str) -> None:
    measured = [(path, type_, raw) for each, path, type_, raw in MEASURED if each == name]
    found = [(path, get(DOCUMENTS[name], path)) for path, _, _ in measured]

    assert 10 <= len(measured)
    assert measured == [
        (path, str(each.type) if each.exists else None, each.raw.decode()) for path, each in found
    ]
