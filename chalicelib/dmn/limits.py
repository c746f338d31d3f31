"""The bounds of one model and one evaluation, beside FEEL's own (`feel.limits`)."""

from __future__ import annotations

BYTES_MAX = 10 * 1024 * 1024  # of a file; as for BPMN
SIGNED_NAMES_MAX = 500  # names such as `a-b` that a model's components may have
RECORDS_MAX = 1_000  # decisions and matched rules that an audit keeps
PROGRAMS_MAX = 64  # compiled models kept per container
