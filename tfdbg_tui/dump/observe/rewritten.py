"""Which tensors there are only while something looks at them.

TensorFlow's graph optimizer adds constants up before anything else is added to them: of ``1 - p +
1e-9`` it makes ``1 - p``, as 1 + 1e-9 is 1 in float32.  It does so where nothing else takes what
``1 - p`` gives, so that to look at that would keep the program from its ∞.  In the same way it
multiplies two numbers with each other before a matrix, makes a log_softmax of a softmax whose
logarithm alone is taken, and takes the root of the largest number in place of the largest root.

Source: ``ConstantFolding::PrepareConstantPushDown``, ``MinimizeBroadcasts``, ``LogSoftmaxStage``
``OptimizeMaxOrMinOfMonotonicStage`` and ``SimplifyAggregation`` in
tensorflow/core/grappler/optimizers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SUMS = frozenset(("Add", "AddV2", "Sub"))
_PRODUCTS = frozenset(("Div", "Mul", "RealDiv"))
_EXTREMES = frozenset(("ArgMax", "ArgMin", "Max", "Min"))
_TAKEN_BY = {
    "Softmax": frozenset(("Log",)),
    **dict.fromkeys(("Acos", "Acosh", "Asin", "Atanh", "Exp", "Expm1"), _EXTREMES),
    **dict.fromkeys(("Log", "Log1p", "Rsqrt", "Sinh", "Sqrt"), _EXTREMES),
}
"""What changes places with the op that takes it: only types that may give NaN or infinity."""
_LOW_PRECISION = frozenset((tf.float16, tf.bfloat16))
"""Of these TensorFlow leaves the order of additions as it is."""
_MAX_DEPTH = 4


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
    if op_type not in _SUMS | _PRODUCTS or tensor.dtype.base_dtype in _LOW_PRECISION:
        return False
    user = only_user(tensor)
    if user is None or user.type not in (_PRODUCTS if _is_twice(tensor) else _family(op_type)):
        return False
    return _has_constant(user) or _is_multiplied_by_less(tensor, user)


def _family(op_type: str) -> frozenset[str]:
    return _SUMS if op_type in _SUMS else _PRODUCTS


def _is_twice(tensor: Any) -> bool:
    """Return whether a tensor is a sum of one with itself, of which TensorFlow makes a product."""
    left, right = tensor.op.inputs
    return tensor.op.type in ("Add", "AddV2") and left is right


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


def _has_constant(op: Any) -> bool:
    """Return whether one of the two inputs of an op is a constant, by which it may divide."""
    left, right = op.inputs
    return _is_constant(right) or (op.type != "RealDiv" and _is_constant(left))


def _is_multiplied_by_less(tensor: Any, user: Any) -> bool:
    """Return whether the product of a tensor and a smaller one is multiplied by a smaller one.

    Args:
        tensor: The product.
        user: What takes it.
    """
    if not tensor.op.type == user.type == "Mul":
        return False
    ranks = [factor.shape.rank for factor in (*tensor.op.inputs, *user.inputs)]
    is_known = None not in ranks
    return is_known and ranks[0] != ranks[1] and ranks[2] != ranks[3]


def _is_constant(tensor: Any, depth: int = 0) -> bool:
    """Return whether TensorFlow knows a tensor before it runs the graph."""
    op = tensor.op
    if op.type == "Const":
        return True
    if not op.inputs or op.op_def.is_stateful or depth >= _MAX_DEPTH:
        return False
    return all(_is_constant(one, depth + 1) for one in op.inputs)
