"""Secrets are read by reference, kept for a minute, and named in no error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from chalicelib.runners.references import SecretMissing
from chalicelib.runners.secrets import KEPT_MAX, AwsSecrets
from tests.fakes.clock import ManualClock

SESSION: Any = boto3.Session("test", "test", region_name="eu-central-1")


class Parameters:
    """Parameter Store behind botocore's own check of requests, which moto takes seconds to load."""

    def __init__(self) -> None:
        self.client = SESSION.client("ssm")
        self.stub = Stubber(self.client)
        self.stub.activate()

    def holds(self, name: str, value: str) -> None:
        """Let the next request find this, if it asks for exactly this."""
        asked = {"Name": name, "WithDecryption": True}
        self.stub.add_response("get_parameter", {"Parameter": {"Value": value}}, asked)


@pytest.fixture(scope="module")
def secrets_manager() -> Iterator[Any]:
    with mock_aws():
        yield SESSION.client("secretsmanager")


@pytest.fixture
def parameters() -> Parameters:
    return Parameters()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def secrets(parameters: Parameters, secrets_manager: Any, clock: ManualClock) -> AwsSecrets:
    return AwsSecrets(parameters.client, secrets_manager, clock)


@pytest.mark.parametrize("text", ["", "plain", "ssm:", "vault:x", "a:b", "SSM:/x"])
def test_a_text_that_is_no_reference_is_the_secret(secrets: AwsSecrets, text: str) -> None:
    assert text == secrets.reveal(text)


def test_a_parameter_is_decrypted(secrets: AwsSecrets, parameters: Parameters) -> None:
    parameters.holds("/hooks/token", "s3cret\n")

    assert "s3cret" == secrets.reveal("ssm:/hooks/token")


def test_a_secret_is_found_by_its_name_and_by_its_arn(
    secrets: AwsSecrets, secrets_manager: Any
) -> None:
    arn = secrets_manager.create_secret(Name="hooks", SecretString="s3cret")["ARN"]

    assert "s3cret" == secrets.reveal("secretsmanager:hooks")
    assert "s3cret" == secrets.reveal(f"secretsmanager:{arn}")


def test_a_secret_that_is_not_there_is_told_by_its_reference(
    secrets: AwsSecrets, parameters: Parameters
) -> None:
    parameters.stub.add_client_error("get_parameter", "ParameterNotFound")

    with pytest.raises(SecretMissing) as parameter:
        secrets.reveal("ssm:/gone")
    with pytest.raises(SecretMissing) as secret:
        secrets.reveal("secretsmanager:gone")

    assert "could not read the secret ssm:/gone: ParameterNotFound" == str(parameter.value)
    assert ("could not read the secret secretsmanager:gone: ResourceNotFoundException") == str(
        secret.value
    )


def test_a_secret_that_is_no_text_is_refused(secrets: AwsSecrets, secrets_manager: Any) -> None:
    secrets_manager.create_secret(Name="key", SecretBinary=b"\x00")

    with pytest.raises(SecretMissing, match="expected text in the secret secretsmanager:key"):
        secrets.reveal("secretsmanager:key")


def test_a_secret_is_read_once_a_minute(
    secrets: AwsSecrets, parameters: Parameters, clock: ManualClock
) -> None:
    parameters.holds("token", "old")
    assert "old" == secrets.reveal("ssm:token")
    parameters.holds("token", "new")

    clock.move(59)
    assert "old" == secrets.reveal("ssm:token")
    clock.move(1)
    assert "new" == secrets.reveal("ssm:token")


def test_a_secret_that_could_not_be_read_is_asked_for_again(
    secrets: AwsSecrets, parameters: Parameters
) -> None:
    parameters.stub.add_client_error("get_parameter", "ThrottlingException")
    with pytest.raises(SecretMissing, match="ThrottlingException"):
        secrets.reveal("ssm:token")

    parameters.holds("token", "now")
    assert "now" == secrets.reveal("ssm:token")


def test_no_more_secrets_are_kept_than_the_bound(
    secrets: AwsSecrets, parameters: Parameters
) -> None:
    for number in range(KEPT_MAX + 1):
        parameters.holds(f"p{number}", "v")
        secrets.reveal(f"ssm:p{number}")

    assert 1 == len(secrets._kept)


def test_secrets_are_in_no_text_that_stands_for_the_whole(
    secrets: AwsSecrets, parameters: Parameters
) -> None:
    parameters.holds("token", "s3cret")
    secrets.reveal("ssm:token")

    assert "s3cret" not in repr(secrets)
