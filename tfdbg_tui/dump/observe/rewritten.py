"""Which tensors there are only while something looks at them.

TensorFlow's graph optimizer adds constants up before anything else is added to them: of ``1 - p +
1e-9`` it makes ``1 - p``, as 1 + 1e-9 is 1 in float32.  It does so where nothing else takes what
``1 - p`` gives, so that to look at that would keep the program from its ∞.  In the same way it
makes a log_softmax of a softmax whose logarithm alone is taken, and takes the root of the largest
number in place of the largest root.

It adds larger constants and multiplies all of them first, too: what is between is looked at all the
same, as little of it is lost there, and numbers that are about to overflow are found.

Source: ``ConstantFolding::PrepareConstantPushDown``, ``LogSoftmaxStage`` and
``OptimizeMaxOrMinOfMonotonicStage`` in tensorflow/core/grappler/optimizers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SUMS = frozenset(("Add", "AddV2", "Sub"))
_EXTREMES = frozenset(("ArgMax", "ArgMin", "Max", "Min"))
_TAKEN_BY = {
    "Softmax": frozenset(("Log",)),
    **dict.fromkeys(("Acos", "Acosh", "Asin", "Atanh", "Exp", "Expm1"), _EXTREMES),
    **dict.fromkeys(("Log", "Log1p", "Rsqrt", "Sinh", "Sqrt"), _EXTREMES),
}
"""What changes places with the op that takes it: only types that may give NaN or infinity."""
_LOW_PRECISION = frozenset((tf.float16, tf.bfloat16))
"""Of these TensorFlow leaves the order of additions as it is."""
_SMALL = 1e-3
"""Larger constants are not lost beside what is around 1."""


def is_rewritten(tensor: Any, only_user: Callable[[Any], Any]) -> bool:
    """Return whether TensorFlow computes something else in place of a tensor and what takes it.

    Args:
        tensor: The tensor.
        only_user: Returns the op that alone takes a tensor; None where several do, or the program.
    """
    op_type = tensor.op.type
    if op_type in _TAKEN_BY:
        user = only_user(tensor)
        return user is not None and user.type in _TAKEN_BY[op_type]
    if op_type not in _SUMS or tensor.dtype.base_dtype in _LOW_PRECISION:
        return False
    user = only_user(tensor)
    if user is None or user.type not in _SUMS:
        return False
    return any(_is_epsilon(one) for one in user.inputs if one is not tensor)


def users_in_run(ops: Iterable[Any], fetched: Iterable[Any]) -> Callable[[Any], Any]:
    """Return a function that returns the op that alone takes a tensor in a run of a session.

    Args:
        ops: What runs.
        fetched: The tensors that the program gets: of these the function returns None.
    """
    running = {op.name for op in ops}
    given = {tensor.name for tensor in fetched}

    def only_user(tensor: Any) -> Any:
        users = {user.name: user for user in tensor.consumers() if user.name in running}
        is_alone = len(users) == 1 and tensor.name not in given
        return next(iter(users.values())) if is_alone else None

    return only_user


def _is_epsilon(tensor: Any) -> bool:
    """Return whether a tensor is a small constant, which may be lost beside another number.

    It is read off the op: who asks TensorFlow for its value keeps the program from feeding it.
    """
    op = tensor.op
    while op.type in ("Cast", "Identity"):
        op = op.inputs[0].op
    if op.type != "Const":
        return False
    value = tf.make_ndarray(op.get_attr("value"))
    return value.dtype.kind == "f" and value.size > 0 and bool(0.0 < np.abs(value).max() < _SMALL)
