"""A part of a function in XLA's own language, of which TensorFlow makes a single op.

Of thousands of ops, TensorFlow takes longer to make each one and to translate it than XLA to
compile it.  Types are written as in ``tensor<2x?xf32>``; ``?`` is a dimension that is known when
XLA compiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_call_module

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERSION = 9
"""Of how the op is called, not of the language; TensorFlow 2.16 knows none that is newer."""
_ELEMENTS = {tf.float32: "f32", tf.float64: "f64", tf.int32: "i32", tf.int64: "i64"}


class Value(NamedTuple):
    """What an op of a module makes.

    Attributes:
        name: Its name in the text.
        shape: Its dimensions; None for one that is known when XLA compiles.
        element: The type of its elements.
    """

    name: str
    shape: tuple[int | None, ...]
    element: str

    @property
    def type(self) -> str:
        """Its type."""
        return _type(self.shape, self.element)


class Reduced(NamedTuple):
    """What is reduced, and how.

    Attributes:
        value: The elements.
        by: The op that makes one of two.
        start: What it begins with, an integer.
    """

    value: Value
    by: str
    start: int


class Module:
    """Ops that are called together."""

    def __init__(self) -> None:
        self._arguments: list[Value] = []
        self._tensors: list[Any] = []
        self._lines: list[str] = []
        self._names = 0
        self._constants: dict[tuple[int, Any, str], Value] = {}

    def argument(self, tensor: Any) -> Value:
        """Return what stands for a tensor of TensorFlow's, of known rank."""
        value = self._value(tensor.shape.as_list(), _ELEMENTS[tensor.dtype.base_dtype])
        self._arguments.append(value)
        self._tensors.append(tensor)
        return value

    def constant(self, number: int, like: Value, element: str) -> Value:
        """Return a number of integers, in the shape of another value; those of one shape share it.

        Args:
            number: The number.
            like: The value.
            element: The type of the number.
        """
        is_known = None not in like.shape
        key = number, like.shape if is_known else like.name, element
        if key not in self._constants:
            made = self._value(like.shape, element)
            self._constants[key] = made
            what = (
                f"stablehlo.constant dense<{number}> :"
                if is_known
                else f'"chlo.constant_like"({like.name}) '
                f"{{value = {number} : {element}}} : ({like.type}) ->"
            )
            self._lines.append(f"{made.name} = {what} {made.type}")
        return self._constants[key]

    def op(self, op: str, *operands: Value, element: str = "") -> Value:
        """Return what an op makes, in the shape of its operands.

        Args:
            op: The op.
            *operands: What it takes.
            element: The type of its elements; "" for that of the last operand.
        """
        made = self._value(operands[-1].shape, element or operands[-1].element)
        self._add(f'"stablehlo.{op}"({_names(operands)})', operands, [made])
        return made

    def compare(self, one: Value, direction: str, other: Value) -> Value:
        """Return where one value and another compare.

        Args:
            one: Integers.
            direction: How, such as ``LT``.
            other: Integers of their type and shape.
        """
        made = self._value(one.shape, "i1")
        what = f"stablehlo.compare {direction}, {one.name}, {other.name}, SIGNED"
        self._add(what, [one, other], [made])
        return made

    def is_inside(self, like: Value, shape: Value) -> Value:
        """Return which elements come before the ends of a shape.

        Args:
            like: Elements, of the shape that XLA makes room for.
            shape: The shape that they have in a run, a vector of int32.
        """
        room = self._shape(like)
        inside: Value | None = None
        for axis in (axis for axis, size in enumerate(like.shape) if size is None):
            place, limit = (self._value(like.shape, "i32") for _ in range(2))
            self._add(f"stablehlo.dynamic_iota {room.name}, dim = {axis}", [room], [place])
            size = self._element(shape, axis)
            what = f"stablehlo.dynamic_broadcast_in_dim {size.name}, {room.name}, dims = []"
            self._add(what, [size, room], [limit])
            is_before = self.compare(place, "LT", limit)
            inside = is_before if inside is None else self.op("and", inside, is_before)
        assert inside is not None
        return inside

    def _shape(self, value: Value) -> Value:
        """Return the shape that XLA makes room for."""
        sizes = []
        for axis in range(len(value.shape)):
            size, row = self._value((), "i32"), self._value((1,), "i32")
            what = f"stablehlo.get_dimension_size {value.name}, dim = {axis}"
            self._add(what, [value], [size])
            self._add(f"stablehlo.reshape {size.name}", [size], [row])
            sizes.append(row)
        return self.concatenate(sizes)

    def _element(self, vector: Value, place: int) -> Value:
        """Return an element of a vector."""
        row, element = (self._value(shape, vector.element) for shape in ((1,), ()))
        what = f"stablehlo.slice {vector.name} [{place}:{place + 1}]"
        self._add(what, [vector], [row])
        self._add(f"stablehlo.reshape {row.name}", [row], [element])
        return element

    def convert(self, value: Value, element: str) -> Value:
        """Return integers as those of a type."""
        if value.element == element:
            return value
        return self.op("convert", value, element=element)

    def reduce(self, reduced: Sequence[Reduced]) -> list[Value]:
        """Return what values of one shape are reduced to along all axes but the first, at once."""
        values = [one.value for one in reduced]
        starts = [self._scalar(one.start, one.value.element) for one in reduced]
        made = [self._value(value.shape[:1], value.element) for value in values]
        pairs = zip(values, starts, strict=True)
        given = ", ".join(f"({value.name} init: {start.name})" for value, start in pairs)
        axes = ", ".join(map(str, range(1, len(values[0].shape))))
        what = f"stablehlo.reduce{given} across dimensions = [{axes}]"
        self._add(what, [*values, *starts], made)
        types = [start.type for start in starts]
        places = range(len(reduced))
        taken = " ".join(f"(%a{i}: {types[i]}, %b{i}: {types[i]})" for i in places)
        steps = [f"%c{i} = stablehlo.{reduced[i].by} %a{i}, %b{i} : {types[i]}" for i in places]
        results = ", ".join(f"%c{i}" for i in places)
        returned = f"stablehlo.return {results} : {', '.join(types)}"
        self._lines += [f"reducer{taken} {{", *steps, returned, "}"]
        return made

    def concatenate(self, vectors: Sequence[Value]) -> Value:
        """Return vectors of one type one after the other."""
        if len(vectors) == 1:
            return vectors[0]
        length = sum(vector.shape[0] or 0 for vector in vectors)
        made = self._value((length,), vectors[0].element)
        self._add(f"stablehlo.concatenate {_names(vectors)}, dim = 0", vectors, [made])
        return made

    def call(self, results: Sequence[Value]) -> list[Any]:
        """Add the op to the current graph; return tensors for some values."""
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self._arguments)
        types = _types(results)
        lines = [
            # Without it, XLA would be asked to compile dimensions that are not known.
            "module attributes {jax.uses_shape_polymorphism = true} {",
            f"func.func public @main({arguments}) -> {types} {{",
            *self._lines,
            f"return {_names(results)} : {types[1:-1]}",
            "}",
            "}",
        ]
        elements = {name: dtype for dtype, name in _ELEMENTS.items()}
        made: list[Any] = xla_call_module(
            args=self._tensors,
            version=_VERSION,
            module="\n".join(lines),
            Sout=[value.shape for value in results],
            Tout=[elements[value.element] for value in results],
            # Nothing in it is of one platform.
            platforms=["CPU"],
            disabled_checks=["platform"],
        )
        return made

    def _scalar(self, number: int, element: str) -> Value:
        return self.constant(number, Value("", (), element), element)

    def _value(self, shape: Sequence[int | None], element: str) -> Value:
        """Return a value with a new name."""
        self._names += 1
        return Value(f"%v{self._names}", tuple(shape), element)

    def _add(self, what: str, operands: Sequence[Value], made: Sequence[Value]) -> None:
        results = _types(made) if len(made) > 1 else made[0].type
        self._lines.append(f"{_names(made)} = {what} : {_types(operands)} -> {results}")


def _type(shape: Sequence[int | None], element: str) -> str:
    dimensions = "".join("?x" if size is None else f"{size}x" for size in shape)
    return f"tensor<{dimensions}{element}>"


def _types(values: Sequence[Value]) -> str:
    return f"({', '.join(value.type for value in values)})"


def _names(values: Sequence[Value]) -> str:
    return ", ".join(value.name for value in values)
