"""DMN XML to definitions: what is decided, given and known; expressions are in `reader_boxed`.

A file is read even if much in it is wrong: what is wrong becomes a problem with the id of its
element, so that an author sees all of it at once.
Source: DMN 1.5 section 12 (the schema, DMN15.xsd); the schemas of 1.1 to 1.4 name the same parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.dmn.errors import DmnError, DmnNotXml, Problem
from chalicelib.dmn.limits import BYTES_MAX
from chalicelib.dmn.model import (
    Decision,
    DecisionService,
    Definitions,
    Import,
    InputData,
    ItemDefinition,
    KnowledgeModel,
    Node,
    Variable,
)
from chalicelib.dmn.reader_boxed import BoxedReader
from chalicelib.dmn.xml_parts import Element, boolean, text_of, type_ref_of, variable_of
from chalicelib.feel.names import normalized
from chalicelib.xml_tree import shown

NAMESPACE = re.compile(r"https?://www\.omg\.org/spec/DMN/[0-9]{8}/(?:MODEL/|dmn[0-9]*\.xsd)")


def read_definitions(xml: bytes) -> tuple[Definitions, tuple[Problem, ...]]:
    """Read a file's definitions, and what is wrong with its form.

    Raises: DmnError if it is too large, no XML, or no DMN.
    """
    from chalicelib.xml_reader import NotXml, read  # noqa: PLC0415 (it loads lxml)

    if len(xml) > BYTES_MAX:
        raise DmnError(f"expected a model of at most {BYTES_MAX} bytes, found {len(xml)}")
    try:
        root = read(xml)
    except NotXml as error:
        raise DmnNotXml(str(error)) from error
    if root.name != "definitions" or not NAMESPACE.fullmatch(root.namespace or ""):
        raise DmnError(
            "expected a DMN model: an element definitions in a namespace of DMN, found "
            f"{shown(root.name)} in namespace {shown(root.namespace or '')}"
        )
    reader = _Reader(root)
    return reader.definitions(), tuple(reader.problems)


class _Reader:
    """One file on its way to definitions."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.namespace = root.get("namespace") or ""
        self.problems: list[Problem] = []
        self.boxed = BoxedReader(self.problems)

    def definitions(self) -> Definitions:
        """Read the whole file."""
        root = self.root
        nodes: dict[str, Node] = {}
        for node in self._nodes():
            if node.id in nodes:
                self.problems.append(Problem(node.id, "expected an id of its own, found it twice"))
            nodes.setdefault(node.id, node)
        return Definitions(
            self.namespace,
            root.get("id") or "",
            root.get("name") or "",
            tuple(self._imports()),
            tuple(self._item(item) for item in root.all("itemDefinition")),
            tuple(nodes.values()),
        )

    def _imports(self) -> Iterator[Import]:
        """Read the imports of other models; those of PMML or Java have nothing that runs here."""
        for node in self.root.all("import"):
            namespace = node.get("namespace") or ""
            if NAMESPACE.fullmatch(node.get("importType") or ""):
                yield Import(normalized(node.get("name") or ""), namespace)

    def _item(self, node: Element) -> ItemDefinition:
        name = normalized(node.get("name") or "")
        function = node.first("functionItem")
        components = tuple(self._item(item) for item in node.all("itemComponent"))
        allowed, constraint = node.first("allowedValues"), node.first("typeConstraint")
        return ItemDefinition(
            name,
            function.get("outputTypeRef") if function else type_ref_of(node),
            boolean(node, "isCollection"),
            components,
            text_of(allowed),
            text_of(constraint),
            tuple(variable_of(item) for item in function.all("parameters")) if function else None,
        )

    def _nodes(self) -> Iterator[Node]:
        for element in self.root.children:
            if element.namespace != self.root.namespace:
                continue
            if element.name in ("decision", "businessKnowledgeModel", "decisionService"):
                yield self._node(element)
            elif element.name == "inputData":
                id_, name = self._identity(element)
                yield InputData(id_, name, self._variable(element, name))

    def _node(self, element: Element) -> Node:
        id_, name = self._identity(element)
        variable = self._variable(element, name)
        if element.name == "decisionService":
            return DecisionService(
                *(id_, name, variable),
                outputs=self._references(element, "outputDecision"),
                encapsulated=self._references(element, "encapsulatedDecision"),
                input_decisions=self._references(element, "inputDecision"),
                input_data=self._references(element, "inputData"),
            )
        knows = self._required(element, "knowledgeRequirement", "requiredKnowledge")
        if element.name == "businessKnowledgeModel":
            logic = element.first("encapsulatedLogic")
            function = self.boxed.function(logic, id_) if logic else None
            return KnowledgeModel(id_, name, variable, knows, function)
        requires = self._required(
            element, "informationRequirement", "requiredInput", "requiredDecision"
        )
        expression = self.boxed.within(element, id_)
        return Decision(id_, name, variable, requires, knows, expression, _version_tag(element))

    def _identity(self, element: Element) -> tuple[str, str]:
        name = normalized(element.get("name") or "")
        id_ = element.get("id") or name
        if not id_:
            message = f"expected an id or a name at {element.name} (line {element.line})"
            self.problems.append(Problem("", message))
        return id_, name or id_

    def _variable(self, element: Element, name: str) -> Variable:
        """Read the variable, which has the node's name (DMN 1.5 section 6.3.7)."""
        node = element.first("variable")
        if node is None:
            return Variable(name, None)
        variable = variable_of(node)
        return variable if variable.name else variable._replace(name=name)

    def _required(self, element: Element, kind: str, *names: str) -> tuple[str, ...]:
        return tuple(
            found
            for requirement in element.all(kind)
            for name in names
            for found in self._references(requirement, name)
        )

    def _references(self, element: Element, name: str) -> tuple[str, ...]:
        return tuple(self._reference(node.get("href") or "") for node in element.all(name))

    def _reference(self, href: str) -> str:
        namespace, _, id_ = href.rpartition("#")
        return f"{namespace or self.namespace}#{id_}"


def _version_tag(decision: Element) -> str | None:
    """Read the extension `versionTag`, in whatever namespace it is."""
    extensions = decision.first("extensionElements")
    found = (
        (node for node in extensions.children if node.name == "versionTag") if extensions else ()
    )
    return next((node.get("value") for node in found), None)
