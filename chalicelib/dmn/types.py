"""The types that a model defines, as FEEL's types.

Source: DMN 1.5 sections 7.3.2 (item definitions) and 10.3.2.9 (conformance).
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.dmn.errors import Problem
from chalicelib.dmn.model import Definitions, ItemDefinition
from chalicelib.feel import FeelSyntaxError, Names, Profile, Value, parse_unary_tests
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.types import ANY, SIMPLE_TYPES, FeelType
from chalicelib.feel.values import Kind

_ANY = FeelType(ANY)

# Every name of a simple type; the last three are of Camunda's older modelers.
_SIMPLE = {**SIMPLE_TYPES, **dict.fromkeys(("integer", "long", "double"), Kind.NUMBER)}
_NO_NAMES = Names()


class Types:
    """The types that expressions of one file may name.

    Shapes: `known` by name, those of an imported file behind the import's name and a dot;
        `problems` are what is wrong with the file's own.
    """

    def __init__(
        self, definitions: Definitions, imported: Mapping[str, Types], profile: Profile
    ) -> None:
        self.problems: list[Problem] = []
        self._profile = profile
        self._items = {item.name: item for item in definitions.types}
        self._imported = imported
        self._making: set[str] = set()
        self.known: dict[str, FeelType] = {}
        for prefix, types in imported.items():
            for name in types._items:
                self.known[f"{prefix}.{name}" if prefix else name] = types.known[name]
        for name in self._items:
            self._own(name)

    def find(self, reference: str | None) -> FeelType | None:
        """Give the type of a reference; None for none, and for one that nobody defined."""
        if reference is None:
            return None
        known = self.known.get(reference)
        if known is None and reference in _SIMPLE:
            known = FeelType(_SIMPLE[reference])
        return known

    def allowed(self, reference: str | None) -> str | None:
        """Give the unary tests of a type's allowed values, its own or of the type it names."""
        for _ in range(len(self._items)):
            item = self._items.get(reference or "")
            if item is None:
                break
            if item.allowed is not None:
                return item.allowed
            reference = item.type_ref
        prefix, dot, name = (reference or "").rpartition(".")
        types = self._imported.get(prefix)
        return types.allowed(name) if dot and types is not None else None

    def _own(self, name: str) -> FeelType:
        """Make a type of the file itself.

        Where a type holds itself, what is inside is not checked: a FEEL type has an end.
        """
        known = self.known.get(name)
        if known is None:
            if name in self._making:
                return _ANY
            self._making.add(name)
            known = self.known[name] = self._made(self._items[name])
        return known

    def _made(self, item: ItemDefinition) -> FeelType:
        made = self._single(item)
        if item.allowed is not None:
            made = self._restricted(made, item.allowed, item.name)
        if item.is_collection:
            made = FeelType(Kind.LIST, (made,))
        if item.constraint is not None:
            made = self._restricted(made, item.constraint, item.name)
        return made

    def _single(self, item: ItemDefinition) -> FeelType:
        """Make the type of one item, without what of it is allowed."""
        if item.components:
            entries = tuple((part.name, self._made(part)) for part in item.components)
            return FeelType(Kind.CONTEXT, (), entries)
        result = self._referred(item.type_ref, item.name)
        if item.parameters is None:
            return result
        parameters = (self._referred(each.type_ref, item.name) for each in item.parameters)
        return FeelType(Kind.FUNCTION, (*parameters, result))

    def _referred(self, reference: str | None, name: str) -> FeelType:
        if reference is None:
            return _ANY
        if reference in self._items:
            return self._own(reference)
        found = self.find(reference)
        if found is None:
            self.problems.append(Problem(name, f"expected a type, found '{reference}'"))
        return found or _ANY

    def _restricted(self, made: FeelType, text: str, name: str) -> FeelType:
        """Add tests to a type, beside those that it has."""
        try:
            tests = parse_unary_tests(text, profile=self._profile, names=_NO_NAMES)
        except FeelSyntaxError as error:
            self.problems.append(Problem(name, f"allowed values: {error}"))
            return made
        before = made.allows

        def allows(run: Evaluation, value: Value) -> bool:
            if before is not None and not before(run, value):
                return False
            return tests.within(run, {"?": value}) is True

        return made._replace(allows=allows)
