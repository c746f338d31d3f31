"""DMN: XML to decision models, these to JSON and back, and the decisions that they make.

A deployment calls `parse`, refuses a model that has `problems`, and stores what `codec.to_json`
makes of it. Whoever evaluates takes the model out of `codec.from_json`, so never loads the XML
parser, and keeps it: what was compiled of a model is kept as long as the model is the same object.
"""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.dmn.errors import DecisionWarning, DmnError, DmnNotXml, Problem
from chalicelib.dmn.evaluation import Result, compile_model, evaluate
from chalicelib.dmn.model import Model
from chalicelib.dmn.run import EvaluatedDecision, EvaluatedInput, EvaluatedOutput, MatchedRule
from chalicelib.feel import Profile

__all__ = [
    "DecisionWarning",
    "DmnError",
    "DmnNotXml",
    "EvaluatedDecision",
    "EvaluatedInput",
    "EvaluatedOutput",
    "MatchedRule",
    "Model",
    "Problem",
    "Result",
    "evaluate",
    "parse",
]


def parse(xml: bytes, imports: Iterable[Model] = (), profile: Profile = Profile.DMN) -> Model:
    """Read a DMN file; what is wrong in it is in the model's `problems`.

    Shapes: `imports` are the models that it may import, found by their namespaces.
    Raises: DmnError if it is too large, no XML, or no DMN.
    """
    from chalicelib.dmn.reader import read_definitions  # noqa: PLC0415 - only deployments read XML

    definitions, problems = read_definitions(xml)
    return compile_model(definitions, imports, profile, problems)
