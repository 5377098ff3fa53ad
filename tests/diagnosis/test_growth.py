"""Work grows with what is on record, not with its square: counted in lines, not in seconds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.logdir.synthetic import (
    DEVICES,
    GRAPHS,
    execution_record,
    read,
    record,
    trace_record,
    vector_proto,
    write_logdir,
)
from tfdbg_tui.diagnosis.report.diagnosis import diagnose
from tfdbg_tui.wire import events

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from tfdbg_tui.diagnosis.report.findings import Report

GRAPH = GRAPHS[1]
FINITE, NAN = (vector_proto([-1.0, 9.0, 0.0, 0.0, count]) for count in (0.0, 1.0))
SMALL, LARGE, MOST = 150, 600, 5


def executed(op_type: str, inputs: list[int], outputs: list[int], bad: bool = True) -> bytes:
    execution = events.Execution(
        op_type,
        len(outputs),
        input_tensor_ids=inputs,
        output_tensor_ids=outputs,
        tensor_debug_mode=3,
        tensor_protos=[NAN if bad else FINITE] * len(outputs),
        output_tensor_device_ids=[0] * len(outputs),
    )
    return execution_record(execution, wall_time=1.7e9 + outputs[0])


def created(
    op_type: str, name: str, inputs: list[str], graph: str = GRAPH, **more: list[str]
) -> bytes:
    op = events.GraphOpCreation(op_type, name, "f", graph, input_names=inputs, num_outputs=1)
    op.called_graph_ids = more.get("calls", [])
    return record(graph_op_creation=op.encode())


def computed(name: str, graph: str = GRAPH, bad: bool = True) -> bytes:
    proto = NAN if bad else FINITE
    return trace_record(events.GraphExecutionTrace(graph, name, 0, 3, proto, DEVICES[0]))


def graph(graph_id: str, name: str, outer: str = "") -> bytes:
    return record(debugged_graph=events.DebuggedGraph(graph_id, name, outer).encode())


def signature(graph_id: str, inputs: list[str], outputs: list[str]) -> bytes:
    found = events.GraphSignature(graph_id, f"__inference_{graph_id}", inputs, outputs)
    return record(graph_signature=found.encode())


def wide_inputs(n: int) -> dict[str, Any]:
    made = [executed("Log", [], [i], bad=i == n // 2) for i in range(1, n + 1)]
    taken = executed("AddN", list(range(1, n + 1)), [n + 1])
    return {"executions": b"".join((*made, taken))}


def wide_outputs(n: int) -> dict[str, Any]:
    between = list(range(2, n + 2))
    steps: list[tuple[str, list[int], list[int]]]
    steps = [("Log", [], [1]), ("Unpack", [1], between), ("AddN", between, [n + 2])]
    return {"executions": b"".join(executed(*step) for step in steps)}


def wide_graph_op(n: int) -> dict[str, Any]:
    names = [f"Log_{i}" for i in range(n)]
    ops = [created("Log", name, []) for name in names]
    ops.append(created("AddN", "AddN", [f"{name}:0" for name in names]))
    traces = [computed(name, bad=name == "Log_7") for name in names] + [computed("AddN")]
    return {"graphs": b"".join((graph(GRAPH, "f"), *ops)), "traces": b"".join(traces)}


def chain(n: int) -> dict[str, Any]:
    ops = [created("Mul" if i else "Log", f"op{i}", [f"op{i - 1}:0"][:i]) for i in range(n)]
    traces = b"".join(computed(f"op{i}") for i in range(n))
    return {"graphs": graph(GRAPH, "f") + b"".join(ops), "traces": traces}


def eager_chain(n: int) -> dict[str, Any]:
    return {"executions": b"".join(executed("Mul", [i - 1], [i]) for i in range(1, n + 1))}


def many_graphs(n: int) -> dict[str, Any]:
    """Returns a graph that calls all others, each of which makes NaN."""
    n //= 4
    inner = [f"graph{i}" for i in range(n)]
    found = [graph(GRAPH, "f"), created("Log", "Log", []), signature(GRAPH, [], ["Log:0"])]
    for graph_id in inner:
        found += [graph(graph_id, "g", GRAPH), signature(graph_id, ["x:0"], ["Log:0"])]
        found += [
            created("Placeholder", "x", [], graph_id),
            created("Log", "Log", ["x:0"], graph_id),
        ]
        call = "StatefulPartitionedCall"
        found.append(created(call, f"call_{graph_id}", ["Log:0"], GRAPH, calls=[graph_id]))
    return {"graphs": b"".join(found), "traces": b"".join(computed("Log", g) for g in inner)}


def called_in_turn(n: int) -> dict[str, Any]:
    """Returns graphs each of which calls the next one, the last one the first."""
    n //= 4
    found = []
    for i in range(n):
        graph_id, following = f"graph{i}", f"graph{(i + 1) % n}"
        found += [graph(graph_id, "g"), signature(graph_id, ["x:0"], ["Log:0"])]
        found += [
            created("Placeholder", "x", [], graph_id),
            created("Log", "Log", ["x:0"], graph_id),
        ]
        found.append(created("PartitionedCall", "call", ["x:0"], graph_id, calls=[following]))
    traces = b"".join(computed("Log", f"graph{i}") for i in range(n))
    return {"graphs": b"".join(found), "traces": traces}


def nested_calls(n: int) -> dict[str, Any]:
    """Returns graphs each of which calls the next one and makes NaN."""
    found = []
    for i in range(n):
        found += [graph(f"graph{i}", "g"), created("Log", "Log", [], f"graph{i}")]
        called = [f"graph{i + 1}"] if i < n - 1 else []
        found.append(created("PartitionedCall", "call", ["Log:0"], f"graph{i}", calls=called))
    traces = b"".join(computed("Log", f"graph{i}") for i in range(n))
    return {"graphs": b"".join(found), "traces": traces}


def wide_call(n: int) -> dict[str, Any]:
    """Returns a graph that gives a function very many arguments."""
    logs, names = [f"Neg_{i}" for i in range(n)], [f"x{i}" for i in range(n)]
    found = [graph(GRAPH, "f"), graph("inner", "g", GRAPH), signature(GRAPH, [], [])]
    found.append(signature("inner", [f"{name}:0" for name in names], []))
    found.append(created("Log", "Log", []))
    found += [created("Neg", name, ["Log:0"]) for name in logs]
    found += [created("Placeholder", name, [], "inner") for name in names]
    given = [f"{name}:0" for name in logs]
    found.append(created("PartitionedCall", "call", given, calls=["inner"]))
    traces = [computed(name) for name in ("Log", *logs)]
    traces += [computed(name, "inner") for name in names]
    return {"graphs": b"".join(found), "traces": b"".join(traces)}


SHAPES = (
    *(wide_inputs, wide_outputs, wide_graph_op, chain, eager_chain),
    *(many_graphs, called_in_turn, nested_calls, wide_call),
)


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_record(tmp_path: Path, shape: Callable[[int], dict[str, Any]]) -> None:
    small, large = (
        lines_of(diagnosed, write_logdir(tmp_path / str(n), **shape(n))) for n in (SMALL, LARGE)
    )
    assert large / small < MOST


def diagnosed(logdir: Path) -> Report:
    return diagnose(read(logdir))


def lines_of(work: Callable[[Path], object], logdir: Path) -> int:
    """Returns how many lines of Python something runs, those of a loop each time."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work(logdir)
    finally:
        sys.settrace(before)
    return count
