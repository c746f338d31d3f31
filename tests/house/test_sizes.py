"""Modules and functions stay of a size that one can read: style section 8.2."""

from __future__ import annotations

from collections.abc import Iterator

from tests.house.source import WRITTEN, Module, functions, lines_of, modules

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
PARAMETERS_MAX = 6  # five, and `self`


def oversized(module: Module) -> Iterator[str]:
    """Yield a complaint for what is larger than it may be."""
    lines = module.text.count("\n")
    if lines > MODULE_LINES_MAX:
        yield f"{module.path}: {lines} lines"
    for function in functions(module):
        where = f"{module.path}:{function.lineno}: {function.name}"
        if lines_of(function) > FUNCTION_LINES_MAX:
            yield f"{where} has {lines_of(function)} lines"
        parameters = len(function.args.posonlyargs + function.args.args + function.args.kwonlyargs)
        if parameters > PARAMETERS_MAX and not module.path.startswith("tests"):
            yield f"{where} has {parameters} parameters"


def test_modules_and_functions_stay_of_a_size_that_one_can_read() -> None:
    assert [] == [complaint for module in modules(*WRITTEN) for complaint in oversized(module)]


def test_what_is_too_large_is_found() -> None:
    long = Module("a.py", "x = 1\n" * 401)
    function = Module("a.py", "def f():\n" + "    x = 1\n" * 60)
    many = Module("a.py", "def f(a, b, c, d, e, f, g): ...")

    assert [1, 1, 1] == [len(list(oversized(module))) for module in (long, function, many)]


def test_a_docstring_does_not_count() -> None:
    text = 'def f():\n    """' + "words\n" * 50 + '    """\n' + "    x = 1\n" * 58
    assert [] == list(oversized(Module("a.py", text)))
