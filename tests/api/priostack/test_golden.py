"""Request and response pairs of every operation under `/api/v1`, as files of `golden/priostack`."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.priostack.driver import serve_routing
from tests.api.stories import GOLDEN, operation_ids, tell

FILES = sorted((GOLDEN / "priostack").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_operation_answers_as_its_file_says(client: Client, ports: Ports, file: Path) -> None:
    tell(client, file, wait=lambda _: serve_routing(ports))


def test_every_operation_has_a_file() -> None:
    assert operation_ids("/api/v1") == {file.stem for file in FILES}
