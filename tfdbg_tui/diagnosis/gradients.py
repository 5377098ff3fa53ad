"""Which events belong to the computation of a gradient."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import graph_op_of, op_type_of, stack_id_of

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run

_NAME = re.compile(r"(^|/)gradient_tape/|(^|/)gradients(_\d+)?/|_grad/")
_FRAME = re.compile(
    r"tensorflow/python/(eager/(imperative_grad|backprop)|ops/(gradients_util|gradients_impl))\.py$"
)
_FUNCTION = re.compile(r"(gradient|_gradient_function|imperative_grad|jacobian|batch_jacobian)$")


def is_backward(run: Run, event: TensorEvent) -> bool:
    """Whether an event is part of a backward pass."""
    op = graph_op_of(run, event)
    if op is not None:
        graph = run.graphs[op.graph_id]
        return graph.name.startswith("__backward_") or _NAME.search(op.name) is not None
    if "__backward_" in (op_type_of(run, event) or ""):
        return True
    stack_id = stack_id_of(run, event)
    frames = run.stack(stack_id) if stack_id is not None else ()
    return any(
        frame.path is not None
        and _FRAME.search(frame.path.replace("\\", "/"))
        and _FUNCTION.search(frame.function)
        for frame in frames
    )
