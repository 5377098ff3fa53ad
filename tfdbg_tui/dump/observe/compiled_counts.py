"""What is counted of the tensors of a function that XLA compiles, by ops that XLA can compile.

Counting NaN, -∞ and +∞ exactly and finding the smallest and the largest finite element takes one
reduction.  It looks at the bits of a number as an integer that has the order of the numbers, as
CPUs compare many of these at once, where `IsNan` and `IsFinite` take ten times as long.

To make and to compile each op takes time, and a training step has a thousand tensors.  So XLA gets
the ops in its own language, small tensors of one shape are the rows of one matrix, and tensors of
one shape that were made one after the other are counted in one loop, which computes one of them
from another, too.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.extremes import NO_KEY
from tfdbg_tui.dump.tensorflow import own, tensor_ops
from tfdbg_tui.dump.tensorflow.stablehlo import Module, Reduced, Value
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

_SMALL = 4096
"""Elements of a tensor that is cheaper to copy than to count on its own."""
_IN_ONE_LOOP = 4
"""Of more tensors, CPUs have no registers for what is counted."""
_JOINED = 64
"""LLVM takes a time that grows with the square of how many vectors are joined at once."""

_TensorColumn = tuple[int, str]
"""A tensor and a column."""

_BAD = ("minus", "plus", "nan")
_SIGNS = ("negative", "zero")
_ENDS = {"low": "minimum", "high": "maximum"}
"""What is found of the keys of finite elements, and by which op."""


class _Float(NamedTuple):
    """How the bits of a floating type are looked at.

    Attributes:
        integer: The type of integers with as many bits.
        highest: The last of these.
        infinity: That of +∞.
    """

    integer: str
    highest: int
    infinity: int


_FLOATS = {
    "f32": _Float("i32", (1 << 31) - 1, 0x7F800000),
    "f64": _Float("i64", (1 << 63) - 1, 0x7FF0000000000000),
}


class _Block(NamedTuple):
    """Tensors of one shape and type.

    Attributes:
        tensors: Which.
        elements: Their elements, ``[tensors, ...]``.
        shape: The shape of that, where it is not known while tracing: then XLA may know no more
            than limits.
        columns: What is counted of each.
    """

    tensors: Sequence[int]
    elements: Value
    shape: Value | None
    columns: tuple[str, ...]


class CompiledCounts:
    """Adds the ops that count some tensors to the current graph.

    Args:
        tensors: The tensors.
        mode: Says what is counted.
        measured: Whether the smallest and largest finite elements are found too.

    Attributes:
        values: All that is counted, an int64 vector.
        number_of_bad: How many elements are NaN or ∞; None where that is not counted.
    """

    def __init__(self, tensors: Sequence[Any], mode: TensorDebugMode, *, measured: bool) -> None:
        self.number_of_bad: Any = None
        if mode is TensorDebugMode.NO_TENSOR:
            self._places = np.zeros((len(tensors), 0), np.intp)
            self.values = tf.zeros([0], tf.int64)
        elif mode is TensorDebugMode.SHAPE:
            self._places = np.arange(8 * len(tensors)).reshape(-1, 8)
            self.values = tf.concat([_shape(tensor) for tensor in tensors], axis=0)
        else:
            is_full = mode is TensorDebugMode.FULL_HEALTH
            known = ("rank", "size") if is_full else ("size",)
            counted = _BAD + (_SIGNS if is_full else ()) + (tuple(_ENDS) if measured else ())
            places = self._count(tensors, known, counted)
            wanted = itertools.product(range(len(tensors)), known + counted)
            found = np.array([places.get(place, -1) for place in wanted])
            self._places = found.reshape(len(tensors), -1)

    def rows(self, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return what was counted of each tensor, as int64 ``[tensors, columns]``.

        Columns: nothing in NO_TENSOR; rank, size and six dimensions in SHAPE; size, -∞, +∞, NaN in
        the health modes; in FULL_HEALTH rank before, and negative and zero after these.  Last, if
        measured, two that `extremes.numbers_of_keys` makes the smallest and largest element of.

        Args:
            values: What `values` was in a run.
        """
        return values[self._places]

    def _count(
        self, tensors: Sequence[Any], known: Sequence[str], counted: tuple[str, ...]
    ) -> Mapping[_TensorColumn, int]:
        """Set the attributes; return where each tensor and column is among the values.

        Args:
            tensors: The tensors.
            known: What is known when XLA compiles.
            counted: What is counted.
        """
        module = Module()
        bad, others = _Results(module), _Results(module)
        for blocks in _in_one_loop(list(_blocks(module, tensors, counted))):
            for block, found in zip(blocks, _counted(module, blocks), strict=True):
                bad.add(block, found, _BAD)
                others.add(block, found, counted[len(_BAD) :])
        results = [some for some in (bad, others) if some.places]
        vectors = module.call([some.vector() for some in results])
        self.number_of_bad = tf.reduce_sum(vectors[0])
        sizes_and_ranks = [_known(tensors, column) for column in known]
        # Where a tensor has no such column, it gets the last one.
        nothing = tf.constant([NO_KEY], tf.int64)
        self.values = tf.concat([*vectors, *sizes_and_ranks, nothing], axis=0)
        places = [place for some in results for place in some.places]
        places += [(number, column) for column in known for number in range(len(tensors))]
        return {place: index for index, place in enumerate(places)}


@functools.cache
def try_out() -> None:
    """Raise an error where XLA does not take the ops; only the program's call would tell else."""

    def counted(numbers: Any) -> Any:
        return CompiledCounts([numbers], TensorDebugMode.FULL_HEALTH, measured=True).values

    counted.__name__ = own.NAME
    with tf.init_scope(), own.work():
        if tf.executing_eagerly():
            signature = [tf.TensorSpec([None])]
            tf.function(counted, input_signature=signature, autograph=False, jit_compile=True)(
                tf.zeros([1])
            )


class _Results:
    """What is found by many reductions, which becomes one vector.

    Args:
        module: Takes the ops.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._vectors: dict[str, list[Value]] = {}
        self._places: dict[str, list[_TensorColumn]] = {}

    def add(self, block: _Block, vectors: Mapping[str, Value], columns: Sequence[str]) -> None:
        """Take some columns of what was found of a block."""
        for column in filter(vectors.__contains__, columns):
            vector = vectors[column]
            self._vectors.setdefault(vector.element, []).append(vector)
            places = self._places.setdefault(vector.element, [])
            places += [(number, column) for number in block.tensors]

    def vector(self) -> Value:
        """Return all, as int64."""
        module = self._module
        joined = [
            module.concatenate(vectors[start : start + _JOINED])
            for vectors in self._vectors.values()
            for start in range(0, len(vectors), _JOINED)
        ]
        # XLA would join all of them at once, and once more for each use.
        kept = [module.op("optimization_barrier", vector) for vector in joined]
        return module.concatenate([module.convert(vector, "i64") for vector in kept])

    @property
    def places(self) -> list[_TensorColumn]:
        """Which tensor and column each element of the vector is of."""
        return list(itertools.chain(*self._places.values()))


def _blocks(module: Module, tensors: Sequence[Any], columns: tuple[str, ...]) -> Iterator[_Block]:
    """Yield the tensors, small ones that are alike together."""
    small: dict[Any, list[int]] = {}
    large: list[list[int]] = []
    for number, tensor in enumerate(tensors):
        shape = tensor.shape
        if shape.is_fully_defined() and shape.num_elements() <= _SMALL:
            small.setdefault((tensor.dtype.base_dtype, tuple(shape)), []).append(number)
        else:
            large.append([number])
    for numbers in (*small.values(), *large):
        some = [tensors[number] for number in numbers]
        # Whatever else changes the shape keeps loops from being vectorized.
        has_rank = some[0].shape.rank is not None
        tensor = tensor_ops.as_real(tf.stack(some) if has_rank else tf.reshape(some[0], [1, -1]))
        is_known = tensor.shape.is_fully_defined()
        shape = None if is_known else module.argument(tf.shape(tensor))
        # Complex numbers have no order.
        is_complex = some[0].dtype.is_complex
        its_columns = tuple(c for c in columns if not (is_complex and c in _ENDS))
        yield _Block(numbers, module.argument(tensor), shape, its_columns)


def _in_one_loop(blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    """Yield the blocks, some of one shape together that come one after the other."""

    def kind(block: _Block) -> object:
        # What is not known while tracing may be two numbers.
        is_known = block.shape is None
        return (block.elements.type, block.columns) if is_known else block.elements.name

    for _, alike in itertools.groupby(blocks, kind):
        some = list(alike)
        for start in range(0, len(some), _IN_ONE_LOOP):
            yield some[start : start + _IN_ONE_LOOP]


def _counted(module: Module, blocks: Sequence[_Block]) -> list[dict[str, Value]]:
    """Return what is counted of each block, all of one shape, as vectors by column."""
    reduced = [one for block in blocks for one in _to_be_reduced(module, block)]
    found = iter(module.reduce(reduced))
    return [{column: next(found) for column in block.columns} for block in blocks]


def _to_be_reduced(module: Module, block: _Block) -> Iterator[Reduced]:
    """Yield what is to be reduced for each column of a block."""
    numbers = block.elements
    integer, highest, infinity = _FLOATS[numbers.element]

    def constant(number: int) -> Value:
        return module.constant(number, numbers, integer)

    bits = module.op("bitcast_convert", numbers, element=integer)
    is_inside = module.is_inside(bits, block.shape) if block.shape is not None else None
    if is_inside is not None:
        bits = module.op("select", is_inside, bits, constant(-1))  # One that is NaN.
    magnitude = module.op("and", bits, constant(highest))
    # The larger a negative number, the smaller its magnitude.
    below = module.op("not", magnitude)
    key = module.op("select", module.compare(bits, "LT", constant(0)), below, magnitude)
    is_finite = module.compare(magnitude, "LT", constant(infinity))
    is_nan = module.compare(magnitude, "GT", constant(infinity))
    is_it = {
        "minus": lambda: module.compare(key, "EQ", constant(~infinity)),
        "plus": lambda: module.compare(key, "EQ", constant(infinity)),
        "nan": lambda: module.op("and", is_nan, is_inside) if is_inside is not None else is_nan,
        # The key of -0 is -1.
        "negative": lambda: module.op("and", module.compare(key, "LT", constant(-1)), is_finite),
        "zero": lambda: module.compare(magnitude, "EQ", constant(0)),
    }
    # A sum of 32 bits is not enough for what has more elements.
    is_huge = math.prod(size or 1 for size in numbers.shape) >> 31
    for column in block.columns:
        if column in _ENDS:
            start = highest if column == "low" else ~highest
            ends = module.op("select", is_finite, key, constant(start))
            yield Reduced(ends, _ENDS[column], start)
        else:
            element = "i64" if is_huge else integer
            yield Reduced(module.op("convert", is_it[column](), element=element), "add", 0)


def _shape(tensor: Any) -> Any:
    """Return rank, size, and six dimensions of a tensor."""
    shape = tf.shape(tensor, tf.int64)[-6:]
    padded = tf.concat([shape, tf.zeros([6], tf.int64)], axis=0)[:6]
    rank, size = tf.cast(tf.rank(tensor), tf.int64), tf.size(tensor, tf.int64)
    return tf.reshape(tf.concat([[rank, size], padded], axis=0), [8])


def _known(tensors: Sequence[Any], column: str) -> Any:
    """Return the sizes or ranks of some tensors, as int64."""

    def of(tensor: Any) -> Any:
        shape = tensor.shape
        if column == "size":
            return shape.num_elements() if shape.is_fully_defined() else tf.size(tensor, tf.int64)
        return shape.rank if shape.rank is not None else tf.cast(tf.rank(tensor), tf.int64)

    return tf.convert_to_tensor([of(tensor) for tensor in tensors], tf.int64)
