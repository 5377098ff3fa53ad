"""Which tensors there are only while something looks at them.

TensorFlow's graph optimizer computes something else in place of an op and the one op that takes
what it gives, where both are the same by the rules of arithmetic.  To look at what is between keeps
the program from that, and so from its own ∞, or from the class that it predicts:

- Constants are added up before anything else is added to them: ``1 - p + 1e-9`` is ``1 - p``, as
  1 + 1e-9 is 1 in float32, and ``x + 1 - 1`` is ``x``.
- ``x * 1e20 * 1e20`` is NaN where x is 0, as the product of the constants is ∞.
- The logarithm of a softmax is a log_softmax.
- The largest root is the root of the largest number.  The place of the largest sigmoid is that of
  the largest number, also where several are rounded to 1.
- ``not x < 1`` is ``x >= 1``, also where x is NaN.
- ``maximum(x, 2 * x)`` is a leaky_relu where oneDNN is on, which gives something else.

Where other constants are multiplied, or larger ones added to a sum of other tensors, what is
between is looked at all the same, as little of it is lost there, and numbers that are about to
overflow are found.

Source: ``ConstantFolding::PrepareConstantPushDown``, ``LogSoftmaxStage``,
``RemoveLogicalNotStage``, ``HoistCWiseUnaryChainsStage``, ``OptimizeMaxOrMinOfMonotonicStage`` and
``FindMulAndMaximum`` in tensorflow/core/grappler/optimizers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FEWEST_OPTIMIZED = 4
"""TensorFlow leaves a graph of fewer ops as it is; a function has one for each output as well."""
_SUMS = frozenset(("Add", "AddV2", "Sub"))
_PRODUCTS = frozenset(("Mul", "RealDiv"))
_PLACES = frozenset(("ArgMax", "ArgMin"))
_POOLS = frozenset(("FractionalMaxPool", "MaxPool", "MaxPool3D", "MaxPoolV2", "MaxPoolWithArgmax"))
_COMPARISONS = "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"
_MAY_BE_BAD = (
    *("Acos", "Acosh", "Asin", "Atanh", "Exp", "Expm1", "Log", "Log1p", "Rsqrt", "Sinh", "Sqrt"),
)
"""Functions that rise or fall throughout, and may give NaN or infinity."""
_ROUNDED = (
    *("Asinh", "Atan", "Ceil", "Elu", "Erf", "Erfc", "Floor", "Relu", "Relu6", "Rint", "Selu"),
    *("Sigmoid", "Sign", "Softplus", "Softsign", "Tanh"),
)
"""The others: which number is the largest may be lost.  Where all are NaN, a pool gives the least
number there is, and they something else of that."""
_MONOTONIC = frozenset((*_MAY_BE_BAD, *_ROUNDED))
_TAKEN_BY = {
    "Softmax": frozenset(("Log",)),
    **dict.fromkeys(_MAY_BE_BAD, frozenset(("Max", "Min")) | _PLACES | _POOLS),
    **dict.fromkeys(_ROUNDED, _PLACES | _POOLS),
    **dict.fromkeys(_COMPARISONS, frozenset(("LogicalNot",))),
}
"""What an op becomes one with, or changes places with."""
_REMOVED = frozenset(("Identity", "PreventGradient", "StopGradient"))
_FUSED_WITH_RELU = frozenset(("BiasAdd", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))
_FOLDED_TYPES = frozenset((tf.float32, tf.float64))
"""Of float16 and bfloat16 TensorFlow leaves the order of additions and products as it is."""
_FOLDED = frozenset(
    (
        *("Add", "AddV2", "BroadcastTo", "Cast", "Const", "Exp", "ExpandDims", "Fill", "Identity"),
        *("Maximum", "Minimum", "Mul", "Neg", "Pow", "RealDiv", "Reciprocal", "Reshape", "Sqrt"),
        *("Square", "Sub"),
    )
)
"""Types of ops that constants are computed by."""
_MOST_FOLDED = 16
_SMALL = 1e-3
"""Larger constants are not lost beside what is around 1."""


def is_rewritten(tensor: Any, only_user: Callable[[Any], Any]) -> bool:
    """Return whether TensorFlow computes something else in place of a tensor and what takes it.

    Args:
        tensor: The tensor.
        only_user: Returns the op that alone takes a tensor; None where several do, or the program.
    """
    op = tensor.op
    if op.type in _REMOVED:
        source = op.inputs[0]
        return only_user(source) is not None and is_rewritten(source, only_user)
    is_folded = _may_be_folded(tensor)
    if not is_folded and op.type not in _TAKEN_BY:
        return False
    passed = _REMOVED | _MONOTONIC if op.type in _MONOTONIC else _REMOVED
    taken, user = tensor, only_user(tensor)
    while user is not None and user.type in passed:
        taken = user.outputs[0]
        user = only_user(taken)
    if user is None:
        return False
    if is_folded:
        others = [one for one in user.inputs if one.name != taken.name]
        return any(_is_lost(op, user, other) for other in others)
    if op.type == "Softmax" and _is_concatenated(user, only_user):
        return False
    if op.type in ("Relu", "Relu6") and op.inputs[0].op.type in _FUSED_WITH_RELU:
        return False
    return user.type in _TAKEN_BY[op.type]


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


def _may_be_folded(tensor: Any) -> bool:
    """Return whether a tensor is a sum, or the product of another one and a constant."""
    op = tensor.op
    if tensor.dtype.base_dtype not in _FOLDED_TYPES:
        return False
    return op.type in _SUMS or (op.type in _PRODUCTS and _factor(op) is not None)


def _is_lost(op: Any, user: Any, other: Any) -> bool:
    """Return whether what a sum or a product gives would be lost in the op that takes it.

    Args:
        op: The sum or product.
        user: What takes it.
        other: What that takes besides.
    """
    if op.type in _SUMS:
        if user.type not in _SUMS or not _is_constant(other):
            return False
        constants = [_is_constant(one) for one in op.inputs]
        if all(constants):
            return False  # What is computed of constants alone is computed in the program's order.
        return _may_be_small(other) or any(constants)
    if user.type == "Maximum":
        return bool((_factor(op) > 1).all()) and not _is_constant(other)
    if user.type not in _PRODUCTS or (user.type == "RealDiv" and user.inputs[0].name == other.name):
        return False
    second = _factor(user)
    return second is not None and _leave_range(_factor(op), second, other.dtype)


def _is_concatenated(log: Any, only_user: Callable[[Any], Any]) -> bool:
    """Return whether TensorFlow takes the logarithm of several tensors after they are joined."""
    user = only_user(log.outputs[0])
    if user is None or user.type != "ConcatV2" or not user.outputs[0].consumers():
        return False
    return all(part.op.type == "Log" for part in list(user.inputs)[:-1])


def _is_constant(tensor: Any) -> bool:
    """Return whether a tensor is computed of constants alone."""
    seen, todo = {tensor.op.name}, [tensor.op]
    while todo:
        op = todo.pop()
        if op.type not in _FOLDED or len(seen) > _MOST_FOLDED:
            return False
        new = [one.op for one in op.inputs if one.op.name not in seen]
        seen.update(one.name for one in new)
        todo += new
    return True


def _may_be_small(constant: Any) -> bool:
    """Return whether a constant may be lost beside another number; one that is computed may be."""
    value = _value(constant)
    if value is None:
        return True
    return value.dtype.kind == "f" and value.size > 0 and bool(0.0 < np.abs(value).max() < _SMALL)


def _value(tensor: Any) -> Any:
    """Return the value of a constant, or None where it is another tensor or is computed.

    It is read off the op: who asks TensorFlow for its value keeps the program from feeding it.
    """
    op = tensor.op
    while op.type in ("Cast", "Identity"):
        op = op.inputs[0].op
    return tf.make_ndarray(op.get_attr("value")) if op.type == "Const" else None


def _factor(product: Any) -> Any:
    """Return the constant that a product or quotient multiplies by; None where there is none."""
    values = [_value(one) for one in product.inputs]
    if product.type == "RealDiv":
        with np.errstate(all="ignore"):
            return None if values[1] is None else 1.0 / values[1].astype(np.float64)
    return next((value.astype(np.float64) for value in values if value is not None), None)


def _leave_range(first: Any, second: Any, dtype: Any) -> bool:
    """Return whether the product of two constants is too large or too small for their type."""
    limits = np.finfo(dtype.base_dtype.as_numpy_dtype)
    with np.errstate(all="ignore"):
        size = np.abs(first * second)
    is_number = np.isfinite(first) & np.isfinite(second) & (first != 0) & (second != 0)
    return bool((is_number & ((size > limits.max) | (size < limits.tiny))).any())
