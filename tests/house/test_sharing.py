"""What is slow to start is started once, however many processes the tests are dealt out to."""

from __future__ import annotations

import re

from tests.house.source import modules
from tests.sharing import EMULATED_AWS, shared_by

ASKS = re.compile(r"\bemulated_aws(: str|\"\))")


def test_all_that_ask_for_the_emulated_aws_share_one() -> None:
    asking = {
        module.path
        for module in modules("tests")
        if ASKS.search(module.text) and not module.path.endswith("conftest.py")
    }

    assert "tests/store/test_on_dynamodb.py" in asking
    assert {EMULATED_AWS} == {shared_by(f"{path}::test") for path in asking}


def test_the_tests_of_a_file_share_its_servers() -> None:
    one, other = (shared_by(f"tests/local/test_routing.py::test_{each}") for each in "ab")

    assert one == other


def test_a_test_that_shares_nothing_is_dealt_out_by_itself() -> None:
    assert "tests/feel/test_x.py::test_y[1]" == shared_by("tests/feel/test_x.py::test_y[1]")
