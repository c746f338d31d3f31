from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest

from chalicelib import bpmn
from chalicelib.bpmn.fingerprint import fingerprint
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from chalicelib.ports import Item, ItemKey, Put, Refused, Update, Write, Written
from chalicelib.profile import Profile
from chalicelib.store import chunks, definitions, table
from chalicelib.store.definitions import Definition, Deployed, Deployment
from tests.fakes.table import MemoryTable
from tests.play import DIAGRAMS
from tests.store.samples import NOW

XML = (DIAGRAMS / "sequence.bpmn").read_bytes()
OTHER = (DIAGRAMS / "one_task.bpmn").read_bytes()
CHANGED = XML.replace(b"Reserve stock", b"Reserve the stock")
LAID_OUT = XML.replace(b"    <bpmn:", b"\t<bpmn:")
ZENBPM, PRIOSTACK = Profile.ZENBPM, Profile.PRIOSTACK
_TOKENS = count(1)


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def deployment(xml: bytes = XML, profile: Profile = ZENBPM) -> Deployment:
    return Deployment(xml, fingerprint(xml), bpmn.parse(xml, profile), profile)


def deploy(store: MemoryTable, xml: bytes = XML, profile: Profile = ZENBPM) -> Deployed:
    made = deployment(xml, profile)
    return definitions.deploy(store, made, now=NOW, token=f"token-{next(_TOKENS)}")


def versions(deployed: Deployed) -> list[int]:
    return [info.version for info in deployed.definitions]


def deploy_two(store: MemoryTable) -> Deployed:
    """Deploy another file, with the process of XML and one more."""
    (process,) = bpmn.parse(XML, ZENBPM)
    both = Deployment(OTHER, "both", [process, replace(process, id="sequence2")], ZENBPM)
    return definitions.deploy(store, both, now=NOW, token=f"token-{next(_TOKENS)}")


def test_a_deployed_process_is_read_as_it_was_compiled(store: MemoryTable) -> None:
    deployed = deploy(store)

    (info,) = deployed.definitions
    found = definitions.get(store, info.key)
    assert deployed.created
    assert found == Definition(
        key=info.key,
        bpmn_process_id="sequence",
        name="Three tasks in a row",
        version=1,
        version_tag=None,
        profile=ZENBPM,
        deployed_at=NOW,
        fingerprint=fingerprint(XML),
        xml_key=info.key,
        process=bpmn.parse(XML, ZENBPM)[0],
    )
    assert found == definitions.latest_of(store, "sequence", ZENBPM)
    assert XML == definitions.xml(store, info.key)


def test_a_key_or_id_that_nobody_deployed_is_none(store: MemoryTable) -> None:
    assert definitions.get(store, 1) is None
    assert definitions.xml(store, 1) is None
    assert definitions.latest_of(store, "sequence", ZENBPM) is None
    assert [] == definitions.list_all(store)


def test_an_id_longer_than_any_is_none_without_a_look() -> None:
    """Contract section 1.4: an unknown process is 404; DynamoDB refuses such a key."""

    class Unread(MemoryTable):
        def get(self, key: ItemKey) -> Item | None:
            raise AssertionError(f"expected no look at {key}")

    assert definitions.latest_of(Unread(), "x" * 251, ZENBPM) is None


def test_a_definition_is_read_once(store: MemoryTable) -> None:
    (info,) = deploy(store).definitions
    first = definitions.get(store, info.key)
    store.write(Update(table.definition_key(info.key), remove=("profile",)))

    assert first is definitions.get(store, info.key)


def test_equal_content_keeps_its_version_however_it_is_laid_out(store: MemoryTable) -> None:
    first = deploy(store)

    again = deploy(store, LAID_OUT)

    assert Deployed(first.definitions, created=False) == again
    assert XML == definitions.xml(store, first.definitions[0].key)


def test_changed_content_is_the_next_version_also_when_an_old_text_returns(
    store: MemoryTable,
) -> None:
    found = [deploy(store, xml) for xml in (XML, CHANGED, XML)]

    assert [[1], [2], [3]] == [versions(deployed) for deployed in found]
    latest = definitions.latest_of(store, "sequence", ZENBPM)
    assert latest is not None and 3 == latest.version
    assert [1, 2, 3] == [info.version for info in definitions.list_all(store)]


def test_some_profiles_always_make_a_new_version(store: MemoryTable) -> None:
    found = [deploy(store, profile=PRIOSTACK) for _ in range(2)]

    assert [[1], [2]] == [versions(deployed) for deployed in found]


def test_versions_are_counted_apart_for_each_profile(store: MemoryTable) -> None:
    deploy(store)
    deploy(store, CHANGED)

    assert [1] == versions(deploy(store, profile=PRIOSTACK))
    latest = definitions.latest_of(store, "sequence", ZENBPM)
    assert latest is not None and (2, ZENBPM) == (latest.version, latest.profile)


def test_every_process_of_a_file_is_deployed_and_only_changed_ones_again(
    store: MemoryTable,
) -> None:
    deploy(store)

    both = deploy_two(store)

    assert [("sequence", 2), ("sequence2", 1)] == [
        (info.bpmn_process_id, info.version) for info in both.definitions
    ]
    first, second = both.definitions
    assert OTHER == definitions.xml(store, second.key)
    assert first.key == second.xml_key
    assert Deployed(both.definitions, created=False) == deploy_two(store)


def test_a_version_tag_is_taken_once(store: MemoryTable) -> None:
    def tagged(xml: bytes, tag: str) -> Deployment:
        made = deployment(xml)
        processes = [replace(process, version_tag=tag) for process in made.processes]
        return replace(made, processes=processes)

    definitions.deploy(store, tagged(XML, "v1"), now=NOW, token="a")
    definitions.deploy(store, tagged(XML, "v1"), now=NOW, token="b")

    with pytest.raises(Rejected, match=r"sequence.*v1.*version 1") as caught:
        definitions.deploy(store, tagged(CHANGED, "v1"), now=NOW, token="c")

    assert Reason.INVALID_ARGUMENT is caught.value.reason
    definitions.deploy(store, tagged(CHANGED, "v2"), now=NOW, token="d")
    assert ["v1", "v2"] == [info.version_tag for info in definitions.list_all(store)]


def test_a_file_goes_into_as_many_chunks_as_it_needs_and_no_more_than_twelve(
    store: MemoryTable,
) -> None:
    noise = random.Random(1).randbytes
    large = replace(deployment(), xml=noise(1_000_000))
    too_large = replace(deployment(OTHER), xml=noise(12 * 350_000))

    (info,) = definitions.deploy(store, large, now=NOW, token="a").definitions
    assert large.xml == definitions.xml(store, info.key)
    assert definitions.get(store, info.key) is not None
    with pytest.raises(TooLarge, match="4200000 bytes when compressed, found"):
        definitions.deploy(store, too_large, now=NOW, token="b")


class Racing(MemoryTable):
    """A table on which others deploy the same process just before we commit."""

    def __init__(self, others: list[bytes]) -> None:
        super().__init__()
        self.others = others

    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        if self.others:
            deploy(self, self.others.pop())
        return super().transact(writes, token)


def test_of_two_deployments_at_once_both_get_a_version() -> None:
    store = Racing([CHANGED])

    assert [2] == versions(deploy(store))


def test_of_two_equal_deployments_at_once_the_second_finds_the_first() -> None:
    store = Racing([XML])

    deployed = deploy(store)

    assert not deployed.created
    assert 1 == len(definitions.list_all(store))


def test_a_deployment_that_keeps_losing_is_a_conflict() -> None:
    class Lost(MemoryTable):
        def transact(self, writes: Sequence[Write], token: str) -> Refused:
            return Refused(None, 0)

    with pytest.raises(Conflict, match="sequence"):
        deploy(Lost())


def test_what_another_version_compiled_is_compiled_again(store: MemoryTable) -> None:
    (info,) = deploy(store).definitions
    chunk = chunks.pack(b'{"format": 99}')
    store.write(Put(table.chunk_key(info.key, table.MODEL, 0), {"bytes": chunk[0]}))

    found = definitions.get(store, info.key)

    assert found is not None and bpmn.parse(XML, ZENBPM)[0] == found.process


def test_definitions_are_no_instances(store: MemoryTable) -> None:
    (info,) = deploy(store).definitions
    items: list[Item | None] = [store.get(ItemKey("live", f"I#{info.key}", "R"))]

    assert [None] == items
