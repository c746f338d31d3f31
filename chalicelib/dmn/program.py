"""A model compiled, node by node as each is first needed, and evaluated.

Theory of operation
-------------------
A node is known by its reference, `namespace#id`. A *frame* holds the values of nodes made so far:
an evaluation has one, and every call of a decision service has one of its own, in which its input
decisions are what the caller gave. What a decision requires is made before it. Knowledge models
and services are functions, made when somebody who may call them is evaluated; FEEL counts their
calls, so that no recursion goes on for ever.

A decision sees the variables of what it requires, those of another file as entries of a context
with the import's name, and whatever else was given that no node of the model is named after.
Source: DMN 1.5 sections 6.2 (requirements) and 10.4 (decision services).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from chalicelib.dmn import model
from chalicelib.dmn.boxed import build
from chalicelib.dmn.errors import DmnError, Problem
from chalicelib.dmn.functions import ModelFunction, Signature, build_function, result_type
from chalicelib.dmn.limits import PROGRAMS_MAX
from chalicelib.dmn.model import reference
from chalicelib.dmn.place import Place, Step, Unit
from chalicelib.dmn.requirements import Graph, Home
from chalicelib.dmn.run import EvaluatedDecision, Run
from chalicelib.dmn.steps import typed
from chalicelib.dmn.types import Types
from chalicelib.dmn.words import Words
from chalicelib.feel import Profile, Value, WarningType
from chalicelib.feel.types import FeelType

# The values of nodes, by their references; and of variables, by their names.
Frame = dict[str, Value]
Variables = Mapping[str, Value]


class Program:
    """One model."""

    def __init__(self, source: model.Model) -> None:
        self.model = source
        self.own = source.definitions[0]
        self.graph = Graph(source.definitions)
        self.homes = self.graph.homes
        self._types = _all_types(source)
        self._words = Words(source.definitions)
        self._compiled: dict[str, Step] = {}
        self._functions: Frame = {}
        self._problems: list[Problem] = []

    def check(self) -> tuple[Problem, ...]:
        """Compile all that the model's own file defines, and give what is wrong with it."""
        self._problems.extend(self._types[self.own.namespace].problems)
        circles = self.graph.circles()
        for node in self.own.nodes:
            key = reference(self.own, node)
            for each in self.graph.needed(key):
                if each not in self.homes:
                    self._problems.append(Problem(node.id, f"expected an element, found {each}"))
            if key in circles:
                self._problems.append(Problem(node.id, "expected no circle of requirements"))
            if not isinstance(node, model.InputData):
                self.compiled(key)
        return tuple(dict.fromkeys(self._problems))

    def find(self, name: str) -> str:
        """Give the reference of a decision, service or knowledge model, by its id or its name.

        Raises: DmnError if there is none.
        """
        nodes = [node for node in self.own.nodes if not isinstance(node, model.InputData)]
        for node in [n for n in nodes if n.id == name] + [n for n in nodes if n.name == name]:
            return reference(self.own, node)
        raise DmnError(f"expected a decision of {self.own.name}, found '{name}'")

    def type_of(self, key: str) -> FeelType | None:
        """Give the type of a node's variable; None where types are not checked."""
        if self.model.profile is Profile.ZEEBE:
            return None
        definitions, node = self.homes[key]
        return self._types[definitions.namespace].find(node.variable.type_ref)

    def value(self, run: Run, key: str, frame: Frame, free: Variables) -> Value:
        """Give the value of a node, having made all that it requires first.

        Raises: DmnError if it requires itself.
        """
        waiting, begun = [key], set[str]()
        while waiting:
            current = waiting[-1]
            missing = [each for each in self.graph.required(current) if each not in frame]
            if current in frame:
                waiting.pop()
            elif not missing:
                frame[current] = self._made(run, current, frame, free)
            elif current in begun:
                raise DmnError(f"expected no circle of requirements, found one at {current}")
            else:
                begun.add(current)
                waiting.extend(reversed(missing))
        return frame[key]

    def outputs(
        self, run: Run, node: model.DecisionService, frame: Frame, free: Variables
    ) -> Value:
        """Give what a service decides: its only output, or a context of them by name."""
        values = {
            self.homes[key].node.variable.name: self.value(run, key, frame, free)
            for key in node.outputs
            if key in self.homes
        }
        return next(iter(values.values())) if len(values) == 1 else values

    def compiled(self, key: str) -> Step:
        """Compile a decision, knowledge model or service, and what it refers to; once."""
        if key not in self._compiled:
            for each in self.graph.ordered(key, self._compiled):
                self._compile(each)
        return self._compiled[key]

    def _step(self, run: Run, key: str) -> Step:
        """Give what was compiled; a table of thousands of rules takes seconds, once, and they are
        none of the evaluation that happens to be the first.
        """
        if key in self._compiled:
            return self._compiled[key]
        with run.deadline.paused():
            return self.compiled(key)

    def _compile(self, key: str) -> None:
        definitions, node = self.homes[key]
        if isinstance(node, model.InputData):
            return
        types = self._types[definitions.namespace]
        unit = Unit(types, self._words, self.model.profile, self._seen(key))
        place = Place(unit, node.id)
        if isinstance(node, model.Decision):
            step = typed(build(node.expression, place), self.type_of(key), node.id)
        elif isinstance(node, model.KnowledgeModel):
            step = self._build_knowledge(node, place)
        else:
            step = self._build_service(node, place)
        if node.variable.type_ref is not None:
            place.type(node.variable.type_ref)
        self._compiled[key] = step
        if definitions is self.own:
            self._problems.extend(unit.problems)

    def _seen(self, key: str) -> dict[str, FeelType | None]:
        """Give the names that a node's expression sees, with their types."""
        definitions, node = self.homes[key]
        seen: dict[str, FeelType | None] = {}
        for each in self.graph.visible(key):
            if each in self.homes:
                for path in self._seen_as(definitions, self.homes[each]):
                    # What is behind an import's name has to be known too.
                    seen.update(dict.fromkeys(path))
                    seen[path[-1]] = self.type_of(each)
        if isinstance(node, model.KnowledgeModel):
            seen[node.variable.name] = None  # it may call itself
        return seen

    def _build_knowledge(self, node: model.KnowledgeModel, place: Place) -> Step:
        if node.logic is None:
            return build(None, place)
        return build_function(node.logic, place, build, place.type(node.variable.type_ref))

    def _build_service(self, node: model.DecisionService, place: Place) -> Step:
        keys = [each for each in (*node.input_data, *node.input_decisions) if each in self.homes]
        names = tuple(self.homes[key].node.variable.name for key in keys)
        wanted = tuple(self.type_of(key) for key in keys)
        result = result_type(place.type(node.variable.type_ref))

        def body(run: Run, variables: dict[str, Value]) -> Value:
            frame = {key: variables[name] for key, name in zip(keys, names, strict=True)}
            return self.outputs(run, node, frame, {})

        signature = Signature(node.id, names, wanted, result)
        return lambda run, variables: ModelFunction(signature, body, variables)

    def _made(self, run: Run, key: str, frame: Frame, free: Variables) -> Value:
        """Make the value of a node whose requirements are in the frame."""
        home = self.homes.get(key)
        if home is None or isinstance(home.node, model.InputData):
            _tell_missing(run, home, key)
            return None
        if not isinstance(home.node, model.Decision):
            return self.function(run, key)
        node = home.node
        run.table = ((), ())
        value = self._step(run, key)(run, {**free, **self._variables(run, key, frame)})
        run.record(EvaluatedDecision(node.id, node.name, model.tag(node), value, *run.table))
        return value

    def function(self, run: Run, key: str) -> Value:
        """Give a knowledge model or service as a function."""
        function = self._functions.get(key)
        if function is None:
            variables: Frame = {}
            function = self._step(run, key)(run, variables)
            if function is not None:
                self._functions[key] = variables[self.homes[key].node.variable.name] = function
                variables.update(self._variables(run, key, {}))
        return function

    def _variables(self, run: Run, key: str, frame: Frame) -> dict[str, Value]:
        """Give the variables of what a node may name, those of other files in contexts."""
        variables: dict[str, Value] = {}
        imported: dict[str, dict[str, Value]] = {}
        definitions = self.homes[key].definitions
        for each in self.graph.visible(key):
            home = self.homes.get(each)
            if home is None:
                continue
            value = frame[each] if each in frame else self.function(run, each)
            for path in self._seen_as(definitions, home):
                target = imported.setdefault(path[0], {}) if len(path) > 1 else variables
                target[path[-1]] = value
        return {**variables, **imported}

    def _seen_as(self, definitions: model.Definitions, home: Home) -> Iterator[tuple[str, ...]]:
        """Yield the paths under which a node is seen in a file: its name, behind an import's.

        A decision is seen by its id too if it has no variable of another name, as Camunda has it.
        """
        name = home.node.variable.name
        if home.definitions.namespace == definitions.namespace:
            if isinstance(home.node, model.Decision) and name == home.node.name:
                yield (home.node.id,)
            yield (name,)
            return
        for each in definitions.imports:
            if each.namespace == home.definitions.namespace:
                yield (each.name, name) if each.name else (name,)


def _tell_missing(run: Run, home: Home | None, key: str) -> None:
    if home is None:
        run.tell(key, "no value is given")
        return
    message = f"no value is given for '{home.node.variable.name}'"
    run.tell(home.node.id, message, WarningType.NO_VARIABLE_FOUND)


@lru_cache(maxsize=PROGRAMS_MAX)
def program_of(source: model.Model) -> Program:
    """Give the program of a model, made once per container while it is in use."""
    return Program(source)


def _all_types(source: model.Model) -> dict[str, Types]:
    """Make the types of each file, those of its imports first."""
    made: dict[str, Types] = {}
    for definitions in reversed(source.definitions):
        imported = {
            each.name: made[each.namespace]
            for each in definitions.imports
            if each.namespace in made
        }
        made[definitions.namespace] = Types(definitions, imported, source.profile)
    return made
