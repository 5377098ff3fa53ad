"""What the terms of a filter look at, of an event and of what many events have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.locations import user_frame
from tfdbg_tui.wire.dtypes import dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.diagnosis.layers import LayersOfOps
    from tfdbg_tui.logdir import ExecutionKind, Layer, Run, Site

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

Texts = dict[str, Sequence[str]]

_FIELDS = {
    "step": "step",
    "size": "size",
    "rank": "rank",
    "nan": "nan",
    "-inf": "neg_inf",
    "+inf": "pos_inf",
    "neg": "neg",
    "zero": "zero",
    "pos": "pos",
    "min": "minimum",
    "max": "maximum",
}
"""What the fields of the language are called in a `TensorSummary`."""

_RECORDED = tuple(name for name in _FIELDS.values() if name != "step")


@dataclass(frozen=True, slots=True)
class Tensors:
    """The tensors of some events, in numbers.

    Attributes:
        events: Position of the event of each, ascending.
        slots: Which output of that it is.
        numbers: Their numbers by the fields of the language; NaN for what is not on record.
    """

    events: Ints
    slots: Ints
    numbers: dict[str, Floats]


def texts_of_site(
    run: Run, site: Site, layers: LayersOfOps, places: Callable[[int], Sequence[str]]
) -> Texts:
    """Return the texts, by field, of all computations of a tensor of a graph.

    Args:
        run: The run.
        site: The tensor of a graph.
        layers: The layers of the ops of its graphs.
        places: Returns the places of a stack, as `places_of_stack` does.
    """
    op = run.op(site.graph_id, site.op_name)
    graph = run.graphs.get(site.graph_id)
    dtypes = op.output_dtypes if op else ()
    return {
        "name": (site.tensor_name, site.op_name),
        "type": (op.op_type,) if op else (),
        "fn": _function(graph.name) if graph else (),
        "layer": _layer(layers.of(op)) if op else (),
        "dtype": (
            (dtype_name(dtypes[site.output_slot]),) if site.output_slot < len(dtypes) else ()
        ),
        "device": _device(site.device),
        "line": places(op.stack_id) if op else (),
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


def places_of_stack(run: Run, stack_id: int) -> Sequence[str]:
    """Return ``path:line`` of each frame, the user's innermost first."""
    frames = run.stack(stack_id)
    position = user_frame(frames)
    ordered = [*frames[position : position + 1], *frames] if position is not None else frames
    return [f"{frame.path}:{frame.line}" for frame in ordered if frame.path]


def numbers_of(run: Run, kind: Kind, rows: Ints) -> Tensors:
    """Return the numbers of all tensors of some events, read from their records.

    Args:
        run: The run.
        kind: Which list the events are in.
        rows: Their rows there.
    """
    if kind == "graph_execution":
        return _numbers_of_graph_executions(run, rows)
    events, slots, told = [], [], []
    for event, row in enumerate(rows.tolist()):
        execution = run.executions[row]
        for slot, summary in enumerate(execution.outputs or (None,)):
            events.append(event)
            slots.append(slot)
            told.append([_number(getattr(summary, name, None)) for name in _RECORDED])
    table = np.array(told, float).reshape(-1, len(_RECORDED))
    numbers = dict(zip(_RECORDED, table.T, strict=True))
    which = np.array(events, np.int64)
    numbers["step"] = steps_of(run, rows)[which]
    return Tensors(which, np.array(slots, np.int64), _by_field(numbers))


def _numbers_of_graph_executions(run: Run, rows: Ints) -> Tensors:
    numbers = run.graph_executions.numbers(rows)
    caused = numbers.pop("execution")
    unmarked = np.isnan(numbers["step"]) & ~np.isnan(caused)
    numbers["step"][unmarked] = steps_of(run, caused[unmarked].astype(np.int64))
    return Tensors(np.arange(len(rows)), np.zeros(len(rows), np.int64), _by_field(numbers))


def steps_of(run: Run, executions: Ints) -> Floats:
    """Return the training steps of some executions; NaN for those that are in none."""
    numbers = run.executions.steps.numbers_of(executions)
    return np.where(numbers >= 0, numbers, np.nan)


def _by_field(recorded: dict[str, Floats]) -> dict[str, Floats]:
    """Return numbers by the fields of the language, given them as summaries call them."""
    numbers = {field: recorded[name] for field, name in _FIELDS.items()}
    numbers["inf"] = numbers["-inf"] + numbers["+inf"]
    return numbers


def _number(value: float | None) -> float:
    return math.nan if value is None else value


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
