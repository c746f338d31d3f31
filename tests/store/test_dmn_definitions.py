"""DMN files in versions: whose latest is whose, and what is found by which binding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count

import pytest

from chalicelib import bpmn, dmn
from chalicelib.bpmn.fingerprint import fingerprint
from chalicelib.bpmn.model import Binding
from chalicelib.dmn.model import Decision
from chalicelib.dmn.version_tags import version_tags
from chalicelib.engine.decided import Called
from chalicelib.errors import Conflict, TooLarge
from chalicelib.ports import Put, Refused, Table, Write, Written
from chalicelib.profile import Profile
from chalicelib.store import chunks, definitions, dmn_definitions, table
from chalicelib.store.definitions import Deployment
from chalicelib.store.dmn_definitions import (
    NAMES_MAX,
    DmnDefinition,
    DmnDefinitionInfo,
    DmnDeployment,
)
from tests.dmn.models import decision, literal
from tests.dmn.models import definitions as file_of
from tests.fakes.table import MemoryTable
from tests.play import DIAGRAMS
from tests.store.samples import NOW

XML = (DIAGRAMS / "dmn" / "discount.dmn").read_bytes()
CHANGED = XML.replace(b">15<", b">20<")
LAID_OUT = XML.replace(b"  <decision", b"\t<decision")
RETAGGED = CHANGED.replace(b'value="v1"', b'value="v2"')
OTHER = XML.replace(b'id="discounts"', b'id="others"').replace(b"urn:example:", b"urn:other:")
PROCESS = (DIAGRAMS / "dmn" / "rule_task.bpmn").read_bytes()
ZENBPM, PRIOSTACK = Profile.ZENBPM, Profile.PRIOSTACK
MINUTE = timedelta(minutes=1)
_TOKENS = count(1)


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def deployment(store: Table, xml: bytes, profile: Profile = ZENBPM) -> DmnDeployment:
    model = dmn_definitions.compiled(store, xml, profile)
    own = model.definitions[0]
    assert () == model.problems
    info = DmnDefinitionInfo(
        key=0,
        resource_id=own.id,
        name=own.name,
        namespace=own.namespace,
        version=0,
        profile=profile,
        deployed_at=NOW,
        fingerprint=fingerprint(xml),
        decisions=tuple(node.id for node in own.nodes if isinstance(node, Decision)),
        tags=version_tags(xml),
    )
    return DmnDeployment(xml, model, info)


def deploy(
    store: MemoryTable, xml: bytes = XML, profile: Profile = ZENBPM, now: datetime = NOW
) -> DmnDefinitionInfo:
    made = deployment(store, xml, profile)
    return dmn_definitions.deploy(store, made, now=now, token=f"token-{next(_TOKENS)}")[0]


def of_process(store: MemoryTable, at: datetime) -> int:
    """Deploy a process; return its definition's key."""
    made = Deployment(PROCESS, fingerprint(PROCESS), bpmn.parse(PROCESS, ZENBPM), ZENBPM)
    token = f"token-{next(_TOKENS)}"
    return definitions.deploy(store, made, now=at, token=token).definitions[0].key


def called(binding: Binding, tag: str | None = None, definition_key: int = 0) -> Called:
    return Called("discount", binding, tag, ZENBPM, definition_key)


def version_of(found: DmnDefinition | None) -> tuple[str, int] | None:
    return None if found is None else (found.resource_id, found.version)


def test_a_deployed_file_is_read_as_it_was_compiled(store: MemoryTable) -> None:
    info = deploy(store)

    found = dmn_definitions.get(store, info.key)
    assert found is not None and found is dmn_definitions.get(store, info.key)
    assert (info.key, 1, ("discount", "points"), {"discount": "v1"}) == (
        found.key,
        found.version,
        found.decisions,
        found.tags,
    )
    assert XML == dmn_definitions.xml(store, info.key)
    assert dmn.evaluate(found.model, "points", {"amount": 550}).value == 5


def test_what_is_not_deployed_is_not_found(store: MemoryTable) -> None:
    assert dmn_definitions.get(store, 1) is None
    assert dmn_definitions.called(store, called(Binding.LATEST)) is None
    assert dmn_definitions.called(store, called(Binding.VERSION_TAG, "v1")) is None
    assert dmn_definitions.called(store, called(Binding.DEPLOYMENT)) is None
    assert dmn_definitions.latest_of(store, "x" * 251, ZENBPM) is None
    assert dmn_definitions.tagged(store, "x", "y" * 251, ZENBPM) is None
    assert [] == dmn_definitions.list_all(store)


def test_equal_content_keeps_the_version_and_an_older_text_makes_a_new_one(
    store: MemoryTable,
) -> None:
    first = deploy(store)

    assert first == deploy(store, LAID_OUT)
    assert [2, 3] == [deploy(store, CHANGED).version, deploy(store).version]


def test_versions_are_per_resource_and_profile(store: MemoryTable) -> None:
    deploy(store)

    assert 1 == deploy(store, OTHER).version
    assert 1 == deploy(store, CHANGED, PRIOSTACK).version
    assert 2 == deploy(store, CHANGED).version


def test_the_latest_of_a_decision_is_that_of_the_file_deployed_last(store: MemoryTable) -> None:
    deploy(store)
    deploy(store, OTHER)
    assert ("others", 1) == version_of(dmn_definitions.called(store, called(Binding.LATEST)))

    deploy(store, CHANGED)
    assert ("discounts", 2) == version_of(dmn_definitions.called(store, called(Binding.LATEST)))
    assert dmn_definitions.latest_of(store, "discount", PRIOSTACK) is None


def test_a_version_tag_finds_the_latest_that_has_it(store: MemoryTable) -> None:
    deploy(store)
    deploy(store, CHANGED)
    deploy(store, RETAGGED)

    found = [
        version_of(dmn_definitions.called(store, called(Binding.VERSION_TAG, tag)))
        for tag in ("v1", "v2", "v3")
    ]
    assert [("discounts", 2), ("discounts", 3), None] == found


def test_a_decision_is_bound_to_what_was_there_when_the_process_was_deployed(
    store: MemoryTable,
) -> None:
    deploy(store)
    process = of_process(store, NOW + MINUTE)
    deploy(store, CHANGED, now=NOW + 2 * MINUTE)

    for _ in range(2):
        found = dmn_definitions.called(store, called(Binding.DEPLOYMENT, None, process))
        assert ("discounts", 1) == version_of(found)


def test_a_decision_deployed_after_the_process_is_not_bound_to_it(store: MemoryTable) -> None:
    process = of_process(store, NOW)
    deploy(store, now=NOW + MINUTE)

    assert dmn_definitions.called(store, called(Binding.DEPLOYMENT, None, process)) is None


@pytest.mark.parametrize(
    ("tag", "resource_id", "expected"),
    [
        (None, "discounts", ("discounts", 2)),
        ("v1", "discounts", ("discounts", 1)),
        ("v2", "others", None),
        (None, "nothing", None),
        (None, None, ("others", 1)),
        ("v2", None, ("discounts", 2)),
    ],
)
def test_a_caller_may_name_the_file(
    store: MemoryTable, tag: str | None, resource_id: str | None, expected: tuple[str, int] | None
) -> None:
    deploy(store)
    deploy(store, RETAGGED, now=NOW + MINUTE)
    deploy(store, OTHER, now=NOW + 2 * MINUTE)

    found = dmn_definitions.find(store, "discount", ZENBPM, tag, resource_id)
    assert expected == version_of(found)


def test_a_file_imports_the_latest_of_what_is_deployed(store: MemoryTable) -> None:
    deploy(store)
    deploy(store, CHANGED)
    xml = file_of(
        '<import name="d" namespace="urn:example:discounts" '
        'importType="https://www.omg.org/spec/DMN/20230324/MODEL/"/>'
        + decision("mine", literal("d.Discount.percent + 1"), decisions=["x"]).replace(
            'href="#x"', 'href="urn:example:discounts#discount"'
        )
    )

    info = deploy(store, xml)

    found = dmn_definitions.get(store, info.key)
    assert found is not None
    given = {"d": {"amount": 5000}, "amount": 5000}
    assert dmn.evaluate(found.model, "mine", given).value == 21


def test_what_another_version_compiled_is_compiled_again(store: MemoryTable) -> None:
    info = deploy(store)
    chunk = chunks.pack(b'{"format": 99}')
    store.write(Put(table.chunk_key(info.key, table.MODEL, 0), {"bytes": chunk[0]}))

    found = dmn_definitions.get(store, info.key)

    assert found is not None
    assert dmn.evaluate(found.model, "points", {"amount": 550}).value == 5


def test_a_file_of_too_many_decisions_is_too_large(store: MemoryTable) -> None:
    many = file_of("".join(decision(f"d{n}", literal("1")) for n in range(NAMES_MAX + 1)))

    with pytest.raises(TooLarge, match=f"found {NAMES_MAX + 1}"):
        deploy(store, many)
    assert NAMES_MAX == len(
        deploy(
            store, file_of("".join(decision(f"d{n}", literal("1")) for n in range(NAMES_MAX)))
        ).decisions
    )


class Racing(MemoryTable):
    """A table on which others deploy the same file just before we commit."""

    def __init__(self, others: list[bytes]) -> None:
        super().__init__()
        self.others = others

    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        if self.others:
            deploy(self, self.others.pop())
        return super().transact(writes, token)


def test_of_two_deployments_at_once_both_get_a_version() -> None:
    assert 2 == deploy(Racing([CHANGED])).version


def test_of_two_equal_deployments_at_once_the_second_finds_the_first() -> None:
    store = Racing([XML])

    assert 1 == deploy(store).version
    assert 1 == len(dmn_definitions.list_all(store))


def test_a_deployment_that_keeps_losing_is_a_conflict() -> None:
    class Lost(MemoryTable):
        def transact(self, writes: Sequence[Write], token: str) -> Refused:
            return Refused(None, 0)

    with pytest.raises(Conflict, match="discounts"):
        deploy(Lost())
