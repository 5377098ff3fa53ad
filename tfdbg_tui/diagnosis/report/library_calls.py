"""Which call of a library an op is inside of, so that only what the call is given can be changed.

``tf.reduce_logsumexp(x)`` takes the logarithm of a sum that it has computed itself: who calls it
can neither clip that sum nor add anything to it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import stack_id_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.locations import (
    inside_algorithm,
    is_without_file,
    name_of_file,
    user_frame,
)

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Layer, Run, StackFrame

_PASSES_ON = re.compile(
    r"/tensorflow/python/((autograph|eager|framework|profiler|saved_model|util)/"
    r"|ops/(gen_\w+|weak_tensor_ops|tensor_math_operator_overrides)\.py$)"
    r"|/keras/src/(backend|utils)/|/tf_keras/src/utils/"
)
"""Files whose functions only hand a call on, or make a single op."""

_PACKAGE = re.compile(r"/(?:site|dist)-packages/(\w+)/")
_OF_LAYER = frozenset({"__call__", "call"})


def library_call(dataflow: Dataflow, event: TensorEvent, layer: Layer | None) -> str | None:
    """Return what a library computes a tensor for, as in a sentence; None where that is no library.

    Args:
        dataflow: Of the run.
        event: The tensor.
        layer: The layer that has made it.
    """
    own = _called(dataflow.run, event)
    if len(own) < 2 or is_backward(dataflow.run, event) or not _is_inside(dataflow, event):
        return None
    called = own[1]
    if is_without_file(called):
        return f"{called.function}, which is generated ({name_of_file(called)}:{called.line})"
    names = [frame.function for frame in own[1:]]
    if layer is not None and _OF_LAYER.intersection(names):
        return layer.class_name
    name = next((name for name in names if not name.startswith("_") and name != "call"), None)
    package = _PACKAGE.search((called.path or "").replace("\\", "/"))
    return f"{name} ({package[1]})" if name and package else name


def _is_inside(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether more than an op is computed where a tensor is: an input of it, or an algorithm."""
    run = dataflow.run
    if inside_algorithm(run, stack_id_of(run, event)):
        return True
    own, taken = _called(run, event), [p.event for p in dataflow.producers(event) if p.event]
    values = [given for given in taken if not is_backward(run, given)]
    return any(_is_same_call(own, _called(run, given)) for given in values)


def _called(run: Run, event: TensorEvent) -> list[StackFrame]:
    """Return the user's line that has made a tensor, and the functions of libraries behind it."""
    stack_id = stack_id_of(run, event)
    frames = run.stack(stack_id) if stack_id is not None else ()
    position = user_frame(frames)
    if position is None:
        return []
    inner = frames[position + 1 :]
    called = [f for f in inner if not _PASSES_ON.search((f.path or "").replace("\\", "/"))]
    return [frames[position], *called]


def _is_same_call(own: list[StackFrame], given: list[StackFrame]) -> bool:
    """Whether one call has made two tensors: in two lines, or by two functions that it calls."""
    if len(given) < 2 or own == given or own[0] != given[0]:
        return False
    return (own[1].path, own[1].function) == (given[1].path, given[1].function)
