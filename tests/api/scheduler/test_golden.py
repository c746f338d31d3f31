"""Request and response pairs of every operation, as files of `tests/api/golden/scheduler`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.client import Client
from tests.api.stories import GOLDEN, operation_ids, tell
from tests.fakes.runner import FAILED, remaining
from tests.operations.scheduling import Scheduling

FILES = sorted((GOLDEN / "scheduler").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_operation_answers_as_its_file_says(
    client: Client, stage: Scheduling, file: Path
) -> None:
    stage.runner.said = [FAILED, remaining(0)]

    tell(client, file, stage.wait)


def test_every_operation_has_a_file() -> None:
    assert operation_ids("/scheduler/v1") == {file.stem for file in FILES}
