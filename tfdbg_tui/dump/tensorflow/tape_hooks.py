"""Hooks into gradient tapes: what they are asked for, and which op a gradient op is of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.eager import backprop
from tensorflow.python.eager import imperative_grad as imperative_grad_module
from tensorflow.python.eager.tape import Tape

from tfdbg_tui.dump.tensorflow import frame_locals
from tfdbg_tui.dump.tensorflow.eager_tensor import is_eager, tensor_id
from tfdbg_tui.dump.tensorflow.private import declare, method

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Wrappers

_GRADIENTS = declare(imperative_grad_module, "imperative_grad", "tape", "target", "sources")
_GRADIENT_FUNCTION = declare(
    backprop, "_gradient_function", "op_name", "attr_tuple", "num_inputs", "inputs", "outputs"
)
_REQUESTS = "what gradients are asked for"
_watched_variables = method(Tape, "watched_variables")


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
            answers = original(tape, target, sources, *args, **kwargs)
            raw = kwargs.get("sources_raw") or sources
            self._listener.attempt(_REQUESTS, self._tell, tape, target, raw, answers)
            return answers

        return imperative_grad

    def _tell(self, tape: Any, targets: Any, sources: Any, answers: Any) -> None:
        asked = [
            (source, answer)
            for source, answer in zip(sources, answers, strict=True)
            if not tf.is_tensor(source) or hasattr(source, "trainable")
        ]
        if asked:
            variables, found = zip(*asked, strict=True)
            watched = _watched_variables(tape)
            target = targets[0] if len(targets) == 1 else None
            told = target, variables, found, watched, sys._getframe(3)
            self._listener.tell("gradients_asked", *told)


def depth_of_gradient(frame: FrameType | None) -> int | None:
    """Return how many calls out TensorFlow computes the gradient of an op; None if it does not."""
    depth, code = 0, getattr(backprop, _GRADIENT_FUNCTION.name).__code__
    while frame is not None:
        if frame.f_code is code:
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
    if not frame_locals.may_be_read():
        return (), ()
    for _ in range(depth):
        assert frame.f_back is not None
        frame = frame.f_back
    given = frame.f_locals
    return _numbers(given["inputs"]), _numbers(given["outputs"])


def _numbers(tensors: Iterable[Any] | None) -> tuple[int, ...]:
    return tuple(tensor_id(tensor) for tensor in tensors or () if is_eager(tensor))
