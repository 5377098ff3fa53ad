"""What is used of TensorFlow beyond its public interface, declared where it is used.

A module of this package imports the names that it needs from TensorFlow's modules, so its import
fails where one is missing.  Attributes and hooks are used by way of the functions below, which take
note of them.  So `missing` knows all that is used, and nothing can be used that it does not know.
"""

from __future__ import annotations

import importlib
import inspect
import operator
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Declaration:
    """Something that an object of TensorFlow's is to have.

    Attributes:
        owner: The module, class, or object.
        name: Name of the attribute.
        parameters: What it takes first, if it is a function that is going to be wrapped.
    """

    owner: Any
    name: str
    parameters: tuple[str, ...] = ()

    def problem(self) -> str | None:
        """Return what is wrong with it in this TensorFlow."""
        lacks = f"{_name(self.owner)} has no {self.name}"
        if isinstance(self.owner, type) and not _has(self.owner, self.name):
            return lacks
        try:
            found = inspect.getattr_static(self.owner, self.name)
        except AttributeError:
            return lacks
        taken = tuple(inspect.signature(found).parameters) if self.parameters else ()
        if taken[: len(self.parameters)] != self.parameters:
            return f"{_name(self.owner)}.{self.name} takes {', '.join(taken)}"
        return None


Wrappers = tuple[tuple[Declaration, "Callable[[Any], Any]"], ...]
"""What to wrap, and functions that make the wrapper of the original."""

declarations: dict[tuple[Any, ...], Declaration] = {}
"""By the names of owner, attribute and parameters."""


def declare(owner: Any, name: str, *parameters: str) -> Declaration:
    """Take note that something is used; see `Declaration`.

    Args:
        owner: The class, module or object that has it.
        name: Name of the attribute.
        *parameters: Names of the parameters that it must have, if it is a function.
    """
    declaration = Declaration(owner, name, parameters)
    declarations[_name(owner), name, parameters] = declaration
    return declaration


def attribute(owner: Any, name: str) -> Callable[[Any], Any]:
    """Return a function that returns an attribute of an object.

    Args:
        owner: The class that has it; an object that does, where its class has not.
        name: Name of the attribute.
    """
    return operator.attrgetter(declare(owner, name).name)


def method(owner: Any, name: str) -> Callable[[Any], Any]:
    """Return a function that calls a method of an object without arguments; see `attribute`."""
    return operator.methodcaller(declare(owner, name).name)


def missing() -> str | None:
    """Return what this TensorFlow lacks, or None where all is there."""
    package = importlib.import_module(__package__ or "")
    try:
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
        problems = (declaration.problem() for declaration in declarations.values())
        return next(filter(None, problems), None)
    except Exception as error:  # Whatever it is, the program runs on.
        return f"{type(error).__name__}: {error}"


def _has(owner: type, name: str) -> bool:
    """Return whether objects of a class have an attribute; classes themselves have `__call__`."""
    return any(name in vars(base) for base in owner.__mro__)


def _name(owner: Any) -> str:
    if inspect.ismodule(owner):
        return owner.__name__
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__module__}.{kind.__qualname__}"
