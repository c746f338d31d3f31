"""Models to JSON and back, so that nobody who evaluates reads XML."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib import json_text
from chalicelib.dmn import codec, evaluate, parse
from tests.dmn.models import DISCOUNT, decision, definitions, literal
from tests.house.source import ROOT

SHARED = Path(os.environ.get("HEADRACE_SHARED", Path(__file__).parents[3] / "shared"))
MODELS = sorted((SHARED / "tck").glob("*/*/*.dmn"))


def test_a_model_comes_back_as_it_was() -> None:
    model = parse(definitions(decision("d", literal("1 +"))))
    back = codec.from_json(codec.to_json(model))

    assert (model.definitions, model.problems, model.profile) == (
        back.definitions,
        back.problems,
        back.profile,
    )


@pytest.mark.skipif(not MODELS, reason=f"needs the compatibility kit in {SHARED}/tck")
def test_the_models_of_others_come_back_as_they_were() -> None:
    for file in MODELS:
        model = parse(file.read_bytes())
        assert model.definitions == codec.from_json(codec.to_json(model)).definitions, file


def test_text_of_another_format_is_refused() -> None:
    data = json_text.loads(codec.to_json(parse(DISCOUNT)))
    assert isinstance(data, dict)
    for text in (json_text.dumps({**data, "format": 0}), "[]"):
        with pytest.raises(codec.UnknownFormat, match="expected a decision model in format 1"):
            codec.from_json(text)


def test_an_evaluation_loads_no_xml_parser(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(codec.to_json(parse(DISCOUNT)))
    script = (
        "import sys; from pathlib import Path; from chalicelib.dmn import codec, evaluate;"
        f"model = codec.from_json(Path({str(tmp_path / 'model.json')!r}).read_text());"
        "print(evaluate(model, 'discount', {'total': 250}).value, 'lxml' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "0.1 False\n" == ran.stdout


def test_a_model_cannot_be_changed() -> None:
    model = parse(DISCOUNT)
    with pytest.raises(AttributeError, match="a model cannot be changed: problems"):
        model.problems = ()
    assert 0 == evaluate(model, "discount", {"total": 1}).value
