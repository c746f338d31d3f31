"""A stage of its own on an emulated AWS that somebody else has started, for as long as it is used.

Its functions run there, out of the zip that goes to AWS, so nothing of this process is in the way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chalicelib.access import Access
from chalicelib.local import attach
from chalicelib.local.attach import Place
from chalicelib.local.client import Client
from chalicelib.local.deploying import EMULATED_POLL_S, emulated_path
from chalicelib.local.terminal import say
from infra import destroy, package
from infra.deploy import WAIT_MAX_S, Choices, Deployer

STAGE = "demo"


@contextmanager
def stage_on(endpoint: str) -> Iterator[Place]:
    """Deploy a stage that asks for no key, give it, and take it away with its data.

    Raises: DeploymentFailed; what the SDK raises if no AWS answers there.
    """
    import boto3  # noqa: PLC0415  after the environment is set

    attach.use_emulated(endpoint, STAGE)
    session = boto3.session.Session()
    deployer = Deployer(session, poll_s=EMULATED_POLL_S)
    try:
        say(f"  deploying  stage {STAGE} on the emulated AWS at {endpoint}")
        with tempfile.TemporaryDirectory() as folder:
            code = package.build_zip(Path(folder))
            prepared = deployer.prepare(
                STAGE, package.build_template(), code, Choices(Access.OPEN), adopts=True
            )
        if prepared is not None:
            deployer.carry_out(prepared)
        url = endpoint.rstrip("/") + emulated_path(deployer.outputs(STAGE))
        yield Place(Client(url), endpoint, STAGE)
    finally:
        gone = destroy.destroy(
            session,
            STAGE,
            with_data=True,
            tell=lambda event: None,
            poll_s=EMULATED_POLL_S,
            most_s=WAIT_MAX_S,
        )
        for _ in gone:
            pass
