"""What the terms of a filter look at, of an event and of what many events have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.gradients import forward_ops, is_backward_op
from tfdbg_tui.diagnosis.locations import user_frame
from tfdbg_tui.wire.dtypes import dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.layers import LayersOfOps
    from tfdbg_tui.logdir import ExecutionKind, GraphOp, Layer, Run, Site

Texts = dict[str, Sequence[str]]


class CodeTexts(NamedTuple):
    """What a stack trace may be asked for.

    Attributes:
        places: ``path:line`` of each frame, the user's innermost first.
        function: The function that the user's innermost frame is in; "" where there is none.
    """

    places: Sequence[str]
    function: str


def texts_of_site(
    run: Run, site: Site, layers: LayersOfOps, code: Callable[[int], CodeTexts]
) -> Texts:
    """Return the texts, by field, of all computations of a tensor of a graph.

    Args:
        run: The run.
        site: The tensor of a graph.
        layers: The layers of the ops of its graphs.
        code: Returns the texts of a stack, as `texts_of_stack` does.
    """
    op = run.op(site.graph_id, site.op_name)
    written = list(map(code, _stacks_of_op(run, op, layers))) if op else []
    graph = run.graphs.get(site.graph_id)
    dtypes = op.output_dtypes if op else ()
    return {
        "name": (site.tensor_name, site.op_name),
        "type": (op.op_type,) if op else (),
        "fn": (*(_function(graph.name) if graph else ()), *(stack.function for stack in written)),
        "layer": _layer(layers.of(op)) if op else (),
        "dtype": (
            (dtype_name(dtypes[site.output_slot]),) if site.output_slot < len(dtypes) else ()
        ),
        "device": _device(site.device),
        "line": [place for stack in written for place in stack.places],
    }


def texts_of_kind(run: Run, kind: ExecutionKind) -> Texts:
    """Return the texts of all executions of an op or function."""
    names = _function(kind.op_type) if kind.is_function else (kind.op_type,)
    tensors = [f"{names[0]}:{slot}" for slot in range(kind.num_outputs)]
    return {
        "name": (*names, *tensors),
        "type": (kind.op_type,),
        "fn": names if kind.is_function else (),
        "layer": _layer(run.layer_of_kind(kind)),
    }


def texts_of_execution(run: Run, index: int) -> Texts:
    """Return the texts that only the record of an execution has."""
    execution = run.executions[index]
    devices = [text for name in execution.output_devices for text in _device(name)]
    dtypes = [summary.dtype for summary in execution.outputs if summary and summary.dtype]
    return {"device": devices, "dtype": dtypes}


def texts_of_stack(run: Run, stack_id: int) -> CodeTexts:
    """Return the texts of a stack."""
    frames = run.stack(stack_id)
    position = user_frame(frames)
    users = frames[position : position + 1] if position is not None else ()
    places = [f"{frame.path}:{frame.line}" for frame in (*users, *frames) if frame.path]
    return CodeTexts(places, "".join(frame.function for frame in users))


def _stacks_of_op(run: Run, op: GraphOp, layers: LayersOfOps) -> Sequence[int]:
    """Return the stack of an op; of a gradient, also those of its forward op.

    As the line of a gradient a report tells that of the op that it is of.
    """
    if not is_backward_op(run, op):
        return (op.stack_id,)
    return op.stack_id, *sorted({found.stack_id for found in forward_ops(run, layers.calls, op)})


def _function(name: str) -> tuple[str, ...]:
    """Return what a function may be called: with its kind, without, and by TensorFlow's name."""
    readable = readable_function(name)
    return tuple(dict.fromkeys((readable, readable.partition(" (")[0], name)))


def _layer(layer: Layer | None) -> tuple[str, ...]:
    """Return what a layer may be called: its path, and any part of that.

    What is in a layer is called by its name too.
    """
    names = [part.name for part in layer.parts] if layer else []
    ends = range(len(names), 0, -1)
    return tuple("/".join(names[start:end]) for end in ends for start in range(end))


def _device(name: str) -> tuple[str, ...]:
    """Return what a device may be called: in full, or ``GPU:1``."""
    return (name, name.rpartition("device:")[2]) if name else ()
