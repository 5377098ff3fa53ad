"""Reductions that only XLA knows: several of the same elements in one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops.gen_xla_ops import xla_variadic_reduce_v2

from tfdbg_tui.dump.tensorflow import own

if TYPE_CHECKING:
    from collections.abc import Sequence


def sum_and_ends(inputs: Sequence[Any], starts: Sequence[Any]) -> Sequence[Any]:
    """Return the sum, the smallest and the largest of each row.

    Args:
        inputs: What is added, what the smallest and what the largest is looked for in: matrices of
            integers of one type and shape.
        starts: What each begins with.
    """
    reducer = _reducer(inputs[0].dtype)
    found: Sequence[Any] = xla_variadic_reduce_v2(inputs, starts, [1], reducer)
    return found


@cache
def _reducer(dtype: Any) -> Any:
    def reduced(*numbers: Any) -> tuple[Any, Any, Any]:
        (added, low, high), (other, other_low, other_high) = numbers[:3], numbers[3:]
        return added + other, tf.minimum(low, other_low), tf.maximum(high, other_high)

    with tf.init_scope(), own.work():
        reduced.__name__ = own.NAME
        function = tf.function(reduced, autograph=False)
        return function.get_concrete_function(*[tf.TensorSpec([], dtype)] * 6)
