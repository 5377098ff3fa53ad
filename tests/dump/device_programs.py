"""Functions that compute with every dtype in every way, for the tests of what runs on devices."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEALTH_MODES = ("CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "ADAPTIVE")
MODES = (*HEALTH_MODES, "NO_TENSOR", "SHAPE", "FULL_TENSOR")

FLOAT8 = (tf.dtypes.experimental.float8_e4m3fn, tf.dtypes.experimental.float8_e5m2)
FLOATS = (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128, *FLOAT8)
INTEGERS = (tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64)
DTYPES = (*FLOATS, *INTEGERS, tf.bool)

_SHAPES = (None, [None, None], [3, 3], [100, 100])
"""Of an unknown rank, of unknown dimensions, small, and large."""


def _through(x: Any, dtypes: Any) -> Any:
    """Return the mean of what is left of a float32 tensor when it was one of other dtypes."""
    others = [tf.cast(x, dtype) for dtype in dtypes]
    reals = [tf.math.real(other) if other.dtype.is_complex else other for other in others]
    return tf.add_n([tf.cast(real, tf.float32) for real in reals]) / len(dtypes)


def _compute(x: Any, divisor: Any) -> Any:
    x = _through(x / divisor, DTYPES)
    if divisor < 1.0:
        x = _through(x + 1.0, DTYPES)
    for i in tf.range(2):
        x = _through(x * 2.0, DTYPES)
        if i < 1:
            x = _through(x - 1.0, FLOATS)
    return x


def _compute_compiled(x: Any, divisor: Any) -> Any:
    return _through(x / divisor, DTYPES)


def _count_characters(x: Any) -> Any:
    return tf.strings.length(tf.strings.join([tf.as_string(x), "!"]))


def _fill_list(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3)
    for i in tf.range(3):
        array = array.write(i, x / tf.cast(i, tf.float32))
    return array.stack()


def _calls(function: Any, **options: Any) -> Iterator[Callable[[float], Any]]:
    """Yield calls of a traced function for each kind of shape; a divisor of 0 makes it go bad."""
    for shape in _SHAPES:
        specs = [tf.TensorSpec(shape, tf.float32), tf.TensorSpec([], tf.float32)]
        traced = tf.function(function, input_signature=specs, **options)
        size = shape if shape and shape[0] else [100, 100]
        yield functools.partial(traced, tf.ones(size))


def dtype_calls() -> Iterator[Callable[[float], Any]]:
    """Yield calls of functions with a branch and a loop."""
    yield from _calls(_compute)


def compiled_calls() -> Iterator[Callable[[float], Any]]:
    """Yield calls of functions that XLA compiles."""
    yield from _calls(_compute_compiled, jit_compile=True)


def other_calls() -> Iterator[Callable[[], Any]]:
    """Yield calls of functions that compute with strings and tensor lists."""
    for function in (_count_characters, _fill_list):
        yield functools.partial(tf.function(function), tf.ones([3]))
