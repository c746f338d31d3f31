"""Models that others drew parse, or are refused with a message that names what is wrong."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from chalicelib.bpmn import codec, parse
from chalicelib.bpmn.refusals import FAULTS_MAX, Refused
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile

SHARED = Path(os.environ.get("HEADRACE_SHARED", Path(__file__).parents[2] / ".." / "shared"))
MODELS = sorted((SHARED / "bpmn").glob("*.bpmn"))
DIAGRAMS = sorted((Path(__file__).parent.parent / "diagrams").glob("*.bpmn"))
RUNNING = {
    "016_camunda-8-benchmark_typical-process": "benchmark",
    "017_camunda-8-benchmark_typical-process-10-jobtypes": "benchmark_10_jobtypes",
    "018_zeebe-client-node-js_Client-ThrowError": "throw-bpmn-error",
    "020_zeebe-simple-monitor_ship-parcel": "ship-parcel",
}

needs_shared = pytest.mark.skipif(
    not MODELS, reason=f"needs the models of {SHARED / 'bpmn'} (HEADRACE_SHARED)"
)
WORDS = ("expected", "unsupported", "no FEEL", "names no", "failed to find")


def stem(path: Path) -> str:
    return path.stem


@needs_shared
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("path", MODELS, ids=stem)
def test_a_model_parses_or_is_refused_with_a_reason(path: Path, profile: Profile) -> None:
    try:
        processes = parse(path.read_bytes(), profile)
    except Rejected as refused:
        assert Reason.INVALID_ARGUMENT == refused.reason
        told = refused.faults if isinstance(refused, Refused) else ()
        texts = [fault.text for fault in told] or [refused.message]
        assert all(20 < len(text) < 500 for text in texts)
        assert all(any(word in text for word in WORDS) for text in texts)
        assert len(refused.message) < 500 * (FAULTS_MAX + 1)
        assert all(fault.line > 0 for fault in told)
    else:
        assert processes == [codec.from_json(codec.to_json(process)) for process in processes]


@needs_shared
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("name", RUNNING)
def test_a_model_that_can_be_run_parses(name: str, profile: Profile) -> None:
    xml = (SHARED / "bpmn" / f"{name}.bpmn").read_bytes()

    assert [RUNNING[name]] == [process.id for process in parse(xml, profile)]


@needs_shared
@pytest.mark.parametrize("path", MODELS, ids=stem)
def test_a_model_says_the_same_in_another_encoding(path: Path) -> None:
    text = path.read_text("utf-8-sig")
    bare = text[text.index("?>") + 2 :] if text.startswith("<?xml") else text

    def outcome(xml: bytes) -> object:
        try:
            return parse(xml, Profile.ZENBPM)
        except Rejected as refused:
            return refused.message

    assert outcome(bare.encode()) == outcome(bare.encode("utf-16"))
    assert outcome(bare.encode()) == outcome(b"\xef\xbb\xbf" + bare.encode())


@pytest.mark.parametrize("path", DIAGRAMS, ids=stem)
def test_a_diagram_of_ours_parses_to_a_process_of_its_own_name(path: Path) -> None:
    for profile in Profile:
        assert [path.stem] == [process.id for process in parse(path.read_bytes(), profile)]


@pytest.mark.parametrize("seed", range(40))
def test_a_broken_model_is_read_or_refused(seed: int) -> None:
    """Bytes are changed, cut out and doubled at random; nothing but Rejected may come of it."""
    dice = random.Random(seed)
    xml = bytearray(dice.choice(DIAGRAMS).read_bytes())
    if (layout := xml.find(b"<bpmndi")) >= 0:
        xml[layout:] = b"</bpmn:definitions>"
    for _ in range(dice.randrange(1, 4)):
        start = dice.randrange(len(xml))
        end = min(len(xml), start + dice.randrange(1, 40))
        match dice.randrange(4):
            case 0:
                xml[start] = dice.randrange(256)
            case 1:
                del xml[start:end]
            case 2:
                xml[start:start] = xml[start:end]
            case _:
                xml[start:end] = dice.choice([b'"', b"=", b"id", b"task", b"&#0;", b"<a/>", b"9"])

    try:
        parse(bytes(xml), Profile.ZENBPM)
    except Rejected as refused:
        assert refused.message
