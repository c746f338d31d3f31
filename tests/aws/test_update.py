"""A stage is updated while it works: no request fails, and what fails leaves it as it was."""

from __future__ import annotations

import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chalicelib.access import Access
from chalicelib.local.client import Client
from chalicelib.local.deploying import emulated_path
from infra import names, package
from infra.deploy import Choices, Deployer, DeploymentFailed
from tests.api.driver import one_task
from tests.aws.conftest import POLL_S, EmulatedSession, in_the_default_group, with_batch_rights
from tests.aws.test_story import eventually

pytestmark = pytest.mark.aws

STAGE = "update"
OPEN = Choices(Access.OPEN)


@dataclass
class Load:
    """A client that starts instances and does their jobs, one by one, until it is ended."""

    client: Client
    done: int = 0
    failed: list[str] = field(default_factory=list)
    _ending: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.definition = self.client.deploy(one_task())
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._work()
            except Exception as error:  # each is told; none is expected
                self.failed.append(f"after {self.done}: {error!r}")

    def _work(self) -> None:
        instance = int(self.client.create_instance(self.definition, {"n": self.done})["key"])
        while self.client.instance(instance)["state"] != "completed":
            for job in self.client.activate("work", "w", 1, "PT5S"):
                self.client.complete(int(job["key"]), {})
        self.done += 1

    def goes_on(self) -> bool:
        """Say whether it did three more within the patience of a test."""
        before = self.done
        return eventually(lambda: self.done >= before + 3)

    def end(self) -> None:
        self._ending.set()
        self._thread.join()


@pytest.fixture
def deployer(endpoint: str) -> Deployer:
    return Deployer(EmulatedSession(endpoint), poll_s=POLL_S)


@pytest.fixture
def load(deployer: Deployer, endpoint: str, code: Path) -> Iterator[Load]:
    put(deployer, template(), code)
    load = Load(Client(endpoint + emulated_path(deployer.outputs(STAGE))))
    yield load
    load.end()


def template() -> dict[str, Any]:
    return in_the_default_group(with_batch_rights(package.build_template()))


def changed(code: Path, folder: Path, word: str) -> Path:
    """Return a zip of code that differs in a file which nobody reads."""
    made = folder / f"{word}.zip"
    shutil.copy(code, made)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("chalicelib/changed.txt", word)
    return made


def put(deployer: Deployer, whole: dict[str, Any], code: Path) -> None:
    prepared = deployer.prepare(STAGE, whole, code, OPEN)
    assert prepared is not None
    deployer.carry_out(prepared)


def code_hashes(deployer: Deployer) -> set[str]:
    """Return the hashes of the code that the functions of the stage run."""
    functions = deployer._session.client("lambda")
    return {
        functions.get_function_configuration(
            FunctionName=names.resolve(name, stage=STAGE, account="", region="")
        )["CodeSha256"]
        for name in names.FUNCTION_NAMES.values()
    }


def test_updates_fail_no_request_and_one_that_fails_is_rolled_back(
    deployer: Deployer, load: Load, code: Path, tmp_path: Path
) -> None:
    assert load.goes_on(), load.failed
    first = code_hashes(deployer)

    larger = template()
    larger["Resources"][names.API]["Properties"]["MemorySize"] = 1_536
    put(deployer, larger, changed(code, tmp_path, "newer"))
    assert load.goes_on(), load.failed
    second = code_hashes(deployer)

    deployer._session.client("ssm").put_parameter(Name="/held", Value="x", Type="String")
    parameter = {"Name": "/held", "Value": "y", "Type": "String"}
    larger["Resources"]["Wrong"] = {"Type": "AWS::SSM::Parameter", "Properties": parameter}
    with pytest.raises(DeploymentFailed, match=r"Wrong: .*ROLLBACK_COMPLETE"):
        put(deployer, larger, changed(code, tmp_path, "newest"))
    assert load.goes_on(), load.failed

    assert [] == load.failed
    assert (1, 1) == (len(first), len(second))
    assert first != second == code_hashes(deployer)
