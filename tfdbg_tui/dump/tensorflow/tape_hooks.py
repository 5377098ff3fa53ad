"""Hooks into gradient tapes: what they are asked for, and which op a gradient op is of."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.eager import backprop
from tensorflow.python.eager import imperative_grad as imperative_grad_module
from tensorflow.python.eager.tape import Tape
from tensorflow.python.ops import gradients_util
from tensorflow.python.util.tf_stack import StackTraceFilter

from tfdbg_tui.dump.tensorflow import frame_locals, variables
from tfdbg_tui.dump.tensorflow.eager_tensor import is_eager, tensor_id
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import declare, method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import FrameType

    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Wrappers

_GRADIENTS = declare(imperative_grad_module, "imperative_grad", "tape", "target", "sources")
_GRADIENT_FUNCTION = declare(
    backprop, "_gradient_function", "op_name", "attr_tuple", "num_inputs", "inputs", "outputs"
)
_GRADIENT_IN_GRAPH = declare(gradients_util, "_MaybeCompile", "scope", "op")
_REQUESTS = "what gradients are asked for"
_ZEROS = frozenset(("Const", "ZerosLike"))
_watched_variables = method(Tape, "watched_variables")


class _LeftOutOfStacks(StackTraceFilter):  # type: ignore[misc]
    """Keeps the frame of whoever enters this out of what errors tell of where an op was made."""

    def __init__(self) -> None:
        super().__init__()
        self._file = sys._getframe(1).f_code.co_filename

    def get_filtered_filenames(self) -> frozenset[str]:
        """See `StackTraceFilter`."""
        return frozenset((self._file, *self.parent.get_filtered_filenames()))


class TapeHooks:
    """Tells what tapes are asked for.

    Args:
        listener: Who is told.
    """

    def __init__(self, listener: SafeListener) -> None:
        self._listener = listener

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return ((_GRADIENTS, self._imperative_grad),)

    def _imperative_grad(self, original: Any) -> Any:
        def imperative_grad(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            begun = self._listener.tell("gradients_begin")
            answers: Sequence[Any] = ()
            try:
                with LeftOutOfTracebacks(), _LeftOutOfStacks():
                    answers = original(tape, target, sources, *args, **kwargs)
            finally:
                if begun:
                    told = _eager_ids(answers), sys._getframe(1)
                    self._listener.tell("gradients_end", *told)
            raw = kwargs.get("sources_raw") or sources
            fills = kwargs.get("unconnected_gradients") == tf.UnconnectedGradients.ZERO
            found = [None if fills and _is_filled_in(answer) else answer for answer in answers]
            self._listener.attempt(_REQUESTS, self._tell, tape, target, raw, found)
            return answers

        return imperative_grad

    def _tell(self, tape: Any, targets: Any, sources: Any, answers: Any) -> None:
        asked = [
            (source, answer)
            for source, answer in zip(sources, answers, strict=True)
            if variables.is_variable(source)
        ]
        if asked:
            wanted, found = zip(*asked, strict=True)
            watched = _watched_variables(tape)
            target = targets[0] if len(targets) == 1 else None
            told = target, wanted, found, watched, sys._getframe(3)
            self._listener.tell("gradients_asked", *told)


def _is_filled_in(answer: Any) -> bool:
    """Return whether a gradient in a graph is zeros that stand for none."""
    if not isinstance(answer, tf.Tensor) or is_eager(answer):
        return False
    name = answer.op.name.rpartition("/")[2]
    return answer.op.type in _ZEROS and name.startswith("zeros_like")


def depth_of_gradient(frame: FrameType | None) -> int | None:
    """Return how many calls out TensorFlow computes the gradient of an op; None if it does not."""
    computing = _GRADIENT_FUNCTION, _GRADIENT_IN_GRAPH
    of_tape, of_graph = [getattr(made.owner, made.name).__code__ for made in computing]
    depth = 0
    while frame is not None:
        code = frame.f_code
        if code is of_tape or code is of_graph:  # To compare code takes long.
            return depth
        frame, depth = frame.f_back, depth + 1
    return None


def forward_tensors(frame: FrameType, depth: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of what the op took and made whose gradient is computed.

    TensorFlow keeps what the gradient needs: either may be empty.

    Args:
        frame: A running frame.
        depth: What `depth_of_gradient` has said of it.
    """
    given = _given(frame, depth)
    return _numbers(given.get("inputs")), _numbers(given.get("outputs"))


def forward_op(frame: FrameType, depth: int) -> Any:
    """Return the op of a graph whose gradient is computed; None where it is not found.

    Args:
        frame: A running frame.
        depth: What `depth_of_gradient` has said of it.
    """
    given = _given(frame, depth)
    if "op" in given:
        return given["op"]
    taken, made = given.get("inputs") or (), given.get("outputs") or ()
    for tensor in made:
        if isinstance(tensor, tf.Tensor) and not is_eager(tensor):
            return tensor.op
    if not taken or any(is_eager(tensor) for tensor in taken):
        return None
    for op in taken[0].consumers():
        if op.type == given["op_name"] and _are_same(op.inputs, taken):
            return op
    return None


def _are_same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _given(frame: FrameType, depth: int) -> Mapping[str, Any]:
    """Return the variables of the function of TensorFlow's that computes the gradient of an op."""
    if not frame_locals.may_be_read():
        return {}
    for _ in range(depth):
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_locals


def _eager_ids(answers: Sequence[Any]) -> tuple[int, ...]:
    """Return the numbers of eager gradients, those of slices of a variable among them."""
    given = (getattr(answer, "values", answer) for answer in answers)
    return _numbers(given)


def _numbers(tensors: Iterable[Any] | None) -> tuple[int, ...]:
    return tuple(tensor_id(tensor) for tensor in tensors or () if is_eager(tensor))
