"""The kit's test files: cases with what is given and what is expected.

Shapes: `level/folder/*.dmn` are models, `level/folder/*-test-NN.xml` the cases on one of them.
Source: the kit's `testCases.xsd`, contracts/feel-dmn.md section 1.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from chalicelib.feel import Value, parse_date, parse_date_and_time, parse_duration, parse_time
from chalicelib.xml_reader import read
from chalicelib.xml_tree import Node

XSI = "{http://www.w3.org/2001/XMLSchema-instance}"


@dataclass(frozen=True)
class Wanted:
    """One result that a case expects: a value, or, with `is_error`, null or an error."""

    name: str
    value: Value
    is_error: bool


@dataclass(frozen=True)
class Case:
    """One case. Shapes: `file` is the test file, `model` the DMN file beside it."""

    file: Path
    model: Path
    id: str
    invocable: str | None
    given: dict[str, Value]
    wanted: tuple[Wanted, ...]

    @property
    def level(self) -> str:
        return self.file.parts[-3]

    @property
    def folder(self) -> str:
        return self.file.parts[-2]

    @property
    def name(self) -> str:
        return f"{self.level}/{self.folder}/{self.file.stem}/{self.id}"


def cases(kit: Path) -> Iterator[Case]:
    """Yield every case of a kit, in the order of its files."""
    for file in sorted(kit.glob("*/*/*.xml")):
        root = read(file.read_bytes())
        if root.name == "testCases":
            yield from _cases_of(root, file)


def _cases_of(root: Node, file: Path) -> Iterator[Case]:
    name = root.first("modelName")
    model = file.parent / (name.text.strip() if name else "")
    for number, node in enumerate(root.all("testCase"), start=1):
        yield Case(
            file,
            model,
            node.get("id") or str(number),
            node.get("invocableName"),
            dict(_given(node)),
            tuple(_wanted(each) for each in node.all("resultNode")),
        )


def _given(case: Node) -> Iterator[tuple[str, Value]]:
    """Yield what is given, by names, those of another file behind its namespace."""
    for node in case.all("inputNode"):
        namespace, name = node.get("namespace"), node.get("name") or ""
        yield f"{namespace}#{name}" if namespace else name, _value(node)


def _wanted(node: Node) -> Wanted:
    expected = node.first("expected")
    is_error = node.get("errorResult") == "true"
    value = None if expected is None else _value(expected)
    return Wanted(node.get("name") or "", value, is_error)


def _value(node: Node) -> Value:
    """Read what an element holds: a value, a list, or the components of a context."""
    items = node.first("list")
    if items is not None:
        return None if _is_nil(items) else [_value(item) for item in items.all("item")]
    components = list(node.all("component"))
    if components:
        return {each.get("name") or "": _value(each) for each in components}
    value = node.first("value")
    return None if value is None or _is_nil(value) else _scalar(value)


def _is_nil(node: Node) -> bool:
    return node.get(f"{XSI}nil") in ("true", "1")


def _scalar(node: Node) -> Value:
    kind = (node.get(f"{XSI}type") or "").rpartition(":")[2]
    text = node.text
    read_as: Any = _READ.get(kind)
    return text if read_as is None else read_as(text.strip())


_READ = {
    "decimal": Decimal,
    "double": Decimal,
    "integer": Decimal,
    "boolean": lambda text: text in ("true", "1"),
    "date": parse_date,
    "time": parse_time,
    "dateTime": parse_date_and_time,
    "duration": parse_duration,
}
