"""The list of programs, each with the truth about it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

PARTS = ("train_1", "train_2", "validation", "test_1", "test_2")

Function = Callable[[], object]
Kind = Literal["op", "input"]


@dataclass(frozen=True)
class Program:
    """One program of the corpus.

    Attributes:
        name: `theme.function`, unique in its part.
        part: One of `PARTS`.
        function: Runs the program. Each call makes its own `tf.function`s and variables.
        note: One sentence: what goes wrong, or why it looks wrong and is not.
        root_ops: The op types that are right as the root; empty for a healthy program. A type that
            begins with "__", such as "__backward", stands for the executions of functions with that
            in their name: TensorFlow's writer records nothing inside a backward function that is
            called eagerly, so there the call is all that a logdir can show.
        kind: "op" if the root computes a bad value from finite ones; "input" if bad values come in
            from outside (data set, initial value, constant): the root is then the first op that a
            dump can show with them, the one that yields or reads them.
        file: Absolute path of the program's source.
        root_lines: The right lines as the root's code location, the best one first: where the op is
            created (`# BUG`), then those that are fair to name as well (`# ALSO`), such as the
            forward line whose gradient is the root.
    """

    name: str
    part: str
    function: Function
    note: str
    root_ops: tuple[str, ...]
    kind: Kind
    file: str
    root_lines: tuple[int, ...]

    @property
    def healthy(self) -> bool:
        return not self.root_ops


_registered: dict[tuple[str, str], Program] = {}


def buggy(*root_ops: str, kind: Kind = "op") -> Callable[[Function], Function]:
    """Registers a program that gives birth to NaN or ∞ in an op of one of these types."""

    def register(function: Function) -> Function:
        lines = marked_lines(function, "# BUG") + marked_lines(function, "# ALSO")
        if not lines:
            raise ValueError(f"{function.__qualname__} has no line marked # BUG")
        _register(function, root_ops, kind, lines)
        return function

    return register


def healthy(function: Function) -> Function:
    """Registers a program in which nothing is wrong, whatever the dump looks like."""
    _register(function, (), "op", ())
    return function


def programs(part: str | None = None) -> list[Program]:
    """Returns the programs of one part, or of all, in the order of themes and lines."""
    for name in PARTS if part is None else (part,):
        package = importlib.import_module(f"{__package__}.{name}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return [program for program in _registered.values() if part in (None, program.part)]


def select(among: list[Program], names: list[str]) -> list[Program]:
    """Returns the programs that are named, or whose theme is; all of them if no name is given."""
    return [
        program
        for program in among
        if not names or program.name in names or program.name.split(".")[0] in names
    ]


def marked_lines(function: Function, mark: str) -> tuple[int, ...]:
    """Returns the numbers of the lines of a function that carry a mark."""
    lines, first = inspect.getsourcelines(function)
    return tuple(first + i for i, line in enumerate(lines) if mark in line)


def _register(
    function: Function, root_ops: tuple[str, ...], kind: Kind, root_lines: tuple[int, ...]
) -> None:
    part, theme = function.__module__.split(".")[-2:]
    program = Program(
        name=f"{theme}.{function.__name__}",
        part=part,
        function=function,
        note=inspect.getdoc(function).splitlines()[0],
        root_ops=root_ops,
        kind=kind,
        file=inspect.getsourcefile(function),
        root_lines=root_lines,
    )
    if (part, program.name) in _registered:
        raise ValueError(f"two programs are called {program.name} in {part}")
    _registered[part, program.name] = program
