"""Looks at objects of the program without running its code.

A property, `__eq__` or `__iter__` of a class of the program's may print, run ops or raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAMES = ("name", "_name")
_KERAS = ("keras", "tf_keras")
_LIBRARIES = ("tensorflow", *_KERAS)


def attributes(thing: Any) -> Mapping[str, Any]:
    """Return the attributes that an object itself has; empty where it keeps them elsewhere."""
    try:
        found: Mapping[str, Any] = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return found


def name_of(thing: Any) -> str:
    """Return the name that a layer, module, policy or optimizer keeps, or else its class's."""
    kept = attributes(thing)
    names = (kept.get(attribute) for attribute in _NAMES)
    return next((str(name) for name in names if type(name) is str), type(thing).__name__)


def is_keras(kind: type, *names: str) -> bool:
    """Return whether a class is, or is derived from, one of Keras' with one of these names."""
    return any(base.__name__ in names and _package(base) in _KERAS for base in kind.__mro__)


def library_property(thing: Any, name: str) -> Any:
    """Return what a property of TensorFlow or Keras says of an object; None if it says nothing.

    A class of the program may replace it: that is not asked.  Such a class need not have what the
    property tells, as a variable that stands for another.
    """
    for base in type(thing).__mro__:
        found = base.__dict__.get(name)
        if isinstance(found, property) and _package(base) in _LIBRARIES:
            try:
                return found.__get__(thing)
            except (AttributeError, NotImplementedError):
                return None
    return None


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def has_method(kind: type, name: str) -> bool:
    """Return whether a class has a method or another attribute, or inherits it."""
    return any(name in base.__dict__ for base in kind.__mro__)


def elements(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the keys and elements of a list, tuple or dictionary; nothing of anything else."""
    if type(value).__module__.startswith("tensorflow."):  # It wraps what attributes hold.
        value = attributes(value).get("_storage", getattr(value, "__wrapped__", value))
    kind = type(value)  # whose instances may say that they are of another class
    if issubclass(kind, list):
        return enumerate(list.__iter__(value))
    if issubclass(kind, tuple):
        return enumerate(tuple.__iter__(value))
    return dict.items(value) if issubclass(kind, dict) else ()
