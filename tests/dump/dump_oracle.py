"""What TensorFlow's own reader finds in a logdir, in a form that two writers can be compared by."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from tfdbg_tui.wire.events import BUILDS


def open_reader(root: str) -> Any:
    from tensorflow.python.debug.lib import debug_events_reader

    reader = debug_events_reader.DebugDataReader(root)
    reader.update()
    return reader


def general(name: str | None) -> str:
    """Return a name without the numbers that differ from run to run, and between writers.

    TensorFlow's instrumentation adds ops of its own while a function is traced, so that the
    second `Const` of the program may be called ``Const_3``.
    """
    return re.sub(r"(_\d+)+(?=/|:|$)|\d+", "", _stateless(name or ""))


def _stateless(text: str) -> str:
    """Return a name or type of an op without what TensorFlow's own writer changes in it.

    The ops that it adds have state, so that all functions that it instruments have.
    """
    return re.sub("Stateful|Stateless", "", text)


def traces(reader: Any, *, values: bool = False) -> Counter[tuple[Any, ...]]:
    """Count the graph execution traces by graph, op, slot, and value vector without its id."""
    found: Counter[tuple[Any, ...]] = Counter()
    for trace in reader.graph_execution_traces():
        graph = reader.graph_by_id(trace.graph_id)
        value: Any = trace.debug_tensor_value
        if value is not None:
            value = tuple(value[1:])
        elif values:
            value = _whole_tensor(reader, trace)
        key = (general(graph.name), general(trace.op_name), trace.op_type, trace.output_slot)
        found[(*key, trace.tensor_debug_mode, trace.device_name, value)] += 1
    return found


def _whole_tensor(reader: Any, trace: Any) -> Any:
    try:
        tensor = reader.graph_execution_trace_to_tensor_value(trace)
    except ValueError:
        return "string"  # TensorFlow cannot read the string tensors that its writer writes.
    return (
        "string" if tensor.dtype == object else (str(tensor.dtype), tensor.shape, tensor.tobytes())
    )


def executions(reader: Any, *, values: bool = False) -> Counter[tuple[Any, ...]]:
    """Count the executions by type, inputs and value vectors without their ids."""
    found: Counter[tuple[Any, ...]] = Counter()
    for digest in reader.executions():
        execution = reader.read_execution(digest)
        vectors: Any = [v for v in execution.debug_tensor_values or () if v]
        vectors = tuple(tuple(v[1:]) for v in vectors)
        if values and execution.num_outputs:
            vectors = tuple(
                (str(v.dtype), v.shape, v.tobytes() if v.dtype != object else tuple(v.reshape(-1)))
                for v in map(np.asarray, reader.execution_to_tensor_values(execution))
                if v.size != 1 or v.reshape(-1)[0] is not None
            )
        inputs = len(execution.input_tensor_ids or ())
        key = (general(execution.op_type), execution.num_outputs, inputs)
        found[(*key, execution.tensor_debug_mode, vectors)] += 1
    return found


def creations(reader: Any) -> Counter[tuple[Any, ...]]:
    """Count the graph ops by graph, name, type, inputs and user's code."""
    found: Counter[tuple[Any, ...]] = Counter()
    for graph in reader._graph_by_id.values():
        for op in graph._op_by_name.values():
            if op.op_type == "NoOp":
                continue  # TensorFlow's instrumentation makes TensorFlow add more of them.
            host, frames = reader.read_graph_op_creation_stack_trace(op)
            assert host
            user = tuple((f[0], f[1], f[2]) for f in frames if "site-packages" not in f[0])
            # A line that makes a layer is none of TensorFlow's frames.
            user = tuple(f for f in user if "tfdbg_tui" not in f[0] and BUILDS not in f[2])[-1:]
            inputs = tuple(general(name) for name in op.input_names or ())
            kind = _stateless(op.op_type)
            key = (general(graph.name), general(op.op_name), kind, op.num_outputs)
            found[(*key, inputs, user)] += 1
    return found
