"""Which op has raised, and what the run of a session had computed then, to be computed again."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.observe import references
from tfdbg_tui.dump.observe.v1_control_flow import ControlFlow
from tfdbg_tui.dump.tensorflow import graph_ops
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.dump.tensorflow.session_callables import Wanted

_EXPECTED_ERRORS = (
    tf.errors.OutOfRangeError,
    tf.errors.CancelledError,
    tf.errors.FailedPreconditionError,
)
"""What a session raises at the end of its data, when it is closed, before it is initialised."""

_REPEATABLE = frozenset(
    (
        *("Assert", "CheckNumerics", "CheckNumericsV2"),
        *("ReadVariableOp", "VarHandleOp", "Variable", "VariableV2"),
    )
)
"""Ops with a state that give the same again, where nothing has been assigned."""

_NAMED_OPS = re.compile(r"\[\[(?:\{\{node )?([^{}\[\]]+)")
"""The ops that TensorFlow's message names: one of a function, and those that called each other.

What a loop or a branch calls has the name of that before its own.
"""

_FAILED_OP = re.compile(r"\[\[(?:\{\{function_node [^{}]*\}\})?\{\{node ([^{}]+)\}\}\]\]")
"""The op that TensorFlow's message names, with the function that it is of where another calls it.

Its name begins with that of what calls the function.
"""

_REFUSED_CALL = re.compile(r"cannot compute \S+ as input #\d+")
"""What TensorFlow says where a function is called with a tensor of another type."""

_UNPLACED = re.compile(
    r"^(?:Unable to find any devices for spec "
    r"|(Cannot assign a device for operation |No OpKernel was registered to support Op ))",
    re.MULTILINE,
)
"""What TensorFlow says of an op that no device can run.

Behind the last two the message names the op; then it names what called the function of that.
"""

_NAMED_FEED = re.compile(r"\{\{node _arg_(.+)_\d+_(\d+)\}\}")
"""The op of a fed tensor, in the name of the op that takes its value, and its number among all."""


def is_expected(error: BaseException) -> bool:
    """Return whether an error is no failure of what a run computes."""
    return isinstance(error, _EXPECTED_ERRORS)


def is_refused(error: BaseException) -> bool:
    """Return whether a run or call was refused, for arguments or devices: nothing of it ran."""
    if not isinstance(error, tf.errors.OpError):
        return False
    unplaced = _UNPLACED.search(error.message)
    is_outermost = unplaced and error.message.count("[[") == (1 if unplaced[1] else 0)
    return bool(_REFUSED_CALL.match(error.message) or is_outermost)


def why_lost(error: BaseException) -> str:
    """Return why what was computed before an error is not on record."""
    return f"{type(error).__name__} {omissions.BY_FAILURE}"


def failed_op(message: str) -> str | None:
    """Return the name of the op of a function that has raised; None where it is not told."""
    found = _FAILED_OP.search(message)
    return found[1] if found is not None else None


def computed_before(
    error: tf.errors.OpError, wanted: Wanted, ops: Sequence[Any]
) -> tuple[list[Any] | None, list[Any]]:
    """Return those of the ops of a run that failed that had all they need.

    Args:
        error: What was raised.
        wanted: What the program wanted.
        ops: The ops that had to run for it, in order of creation.

    Returns:
        Those that can be computed again, None where nothing tells which op has raised; and those
        of the v1 loop in which it has.
    """
    if not wanted.are_values:
        return [], []  # It was raised before any op ran.
    failed = error.op or _refused(error.message, wanted.fed) or _called(error.message, ops)
    if failed is None:
        return None, []
    flow = ControlFlow(ops)
    outermost = flow.position(failed).loops[:1]
    together = [op for op in ops if outermost and flow.position(op).loops[:1] == outermost]
    in_loop = {op.name for op in together}
    before = _without_what_needs({failed.name}, together)
    return _without_what_needs({failed.name, *in_loop}, ops), before


def _refused(message: str, fed: Sequence[Any]) -> Any:
    """Return the op of the fed tensor that cannot take its value; None if another op has raised."""
    named = _NAMED_FEED.search(message)
    if named is None or int(named[2]) >= len(fed):
        return None
    op = fed[int(named[2])].op
    return op if op.name == named[1] else None


def _called(message: str, ops: Iterable[Any]) -> Any:
    """Return which of some ops called the function in which an op raised; None if it is not told.

    What the function computed before is recorded like that of any function.
    """
    named = {op.name: op for op in ops}
    for name in _NAMED_OPS.findall(message):
        scopes = itertools.accumulate(name.split("/"), "{}/{}".format)
        callers = [named[scope] for scope in scopes if scope in named]
        if callers:
            return callers[-1]
    return None


def _without_what_needs(failed: Iterable[str], ops: Iterable[Any]) -> list[Any]:
    """Return those of some ops, in order of creation, that do not wait for some of them."""
    after, others = set(failed), []
    for op in ops:
        before = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
        if op.name in after or any(other.name in after for other in before):
            after.add(op.name)
        else:
            others.append(op)
    return others


def is_repeatable(op: Any) -> bool:
    """Whether an op gives the same again, and leaves everything as it is."""
    stateful = graph_ops.is_stateful(op) and op.type not in _REPEATABLE
    return not stateful and not references.writes(op)
