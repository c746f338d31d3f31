"""FEEL, the expression language of DMN and of BPMN models: text to tree to closure to value.

Nothing here is a dataclass: making one class costs a millisecond, and this package is imported at
every cold start. Values are named tuples instead.
"""

from __future__ import annotations

from chalicelib.feel.calls import calls_of
from chalicelib.feel.deadline import NEVER, Deadline
from chalicelib.feel.errors import FeelError, FeelSyntaxError, FeelWarning, WarningType
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.expression import Expression, parse, parse_unary_tests
from chalicelib.feel.moment import Moment
from chalicelib.feel.names import Names
from chalicelib.feel.profile import Profile
from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Duration,
    Temporal,
    Time,
    YearMonthDuration,
    add_duration,
)
from chalicelib.feel.temporal_text import (
    format_temporal,
    parse_date,
    parse_date_and_time,
    parse_duration,
    parse_temporal,
    parse_time,
)
from chalicelib.feel.values import Function, Range, Value, from_python, kind_of, to_json

__all__ = [
    "NEVER",
    "Date",
    "DateAndTime",
    "DayTimeDuration",
    "Deadline",
    "Duration",
    "Evaluation",
    "Expression",
    "FeelError",
    "FeelSyntaxError",
    "FeelWarning",
    "Function",
    "Moment",
    "Names",
    "Profile",
    "Range",
    "Temporal",
    "Time",
    "Value",
    "WarningType",
    "YearMonthDuration",
    "add_duration",
    "calls_of",
    "format_temporal",
    "from_python",
    "kind_of",
    "parse",
    "parse_date",
    "parse_date_and_time",
    "parse_duration",
    "parse_temporal",
    "parse_time",
    "parse_unary_tests",
    "to_json",
]
