"""What a variable holds when it is read is what was assigned last, by whatever code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis.dataflow import Dataflow
from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.diagnosis.report.diagnosis import diagnose

if TYPE_CHECKING:
    from pathlib import Path

W, V = 3, 4  # eager tensor ids of variables' handles
INITIAL = TensorEvent("execution", 1, 0)


class Steps:
    """A program of functions that assign and read the variables W and V.

    Args:
        directory: Where its logdir is written.
        ours: Whether it is recorded as our own writer does it, rather than TensorFlow's.
    """

    def __init__(self, directory: Path, ours: bool = True) -> None:
        self.program = Program(directory)
        self.ours = ours
        self._rows = self._executions = 0
        self.program.graph("root", "")
        for handle in (W, V):
            self.run("VarHandleOp", made=handle)
            self.run("AssignVariableOp", handle, 2)

    def function(self, graph_id: str, *arguments: str) -> None:
        self.program.graph(graph_id, graph_id, "root")
        for name in arguments:
            self.program.op(graph_id, "Placeholder", name)
        if self.ours:
            self.program.function(graph_id, f"__inference_{graph_id}_1", *arguments)

    def step(self, graph_id: str = "step") -> None:
        """Adds a function that assigns a variable the logarithm of x."""
        self.function(graph_id, "x", "w")
        self.program.op(graph_id, "Log", "Log", "x:0")
        self.program.op(graph_id, "AssignVariableOp", "Assign", "w:0", "Log:0", outputs=0)

    def scaled(self) -> None:
        """Adds a function that reads a variable."""
        self.function("scaled", "w")
        self.program.op("scaled", "ReadVariableOp", "Read", "w:0")

    def call(
        self, graph_id: str, *inputs: int, value: float = 1.0, rows: tuple[str, ...] = ()
    ) -> list[TensorEvent]:
        """Calls a function from Python; returns what it records."""
        name = f"__inference_{graph_id}_1"
        return self.run(name, *inputs, value=value, graph_id=graph_id, rows=rows)

    def run(
        self,
        op_type: str,
        *inputs: int,
        made: int | None = None,
        value: float = 1.0,
        graph_id: str = "",
        rows: tuple[str, ...] = (),
    ) -> list[TensorEvent]:
        serial = self._executions + 1 if self.ours else None
        for row in rows:
            inside, _, name = row.rpartition(":")
            self.program.trace(inside or graph_id, name, floats(value), serial=serial)
        found = [TensorEvent("graph_execution", self._rows + i, 0) for i in range(len(rows))]
        self._rows += len(rows)
        self._executions += 1
        outputs = {} if made is None else {made: floats(value)}
        self.program.execution(op_type, list(inputs), outputs, graph_id=graph_id, serial=serial)
        return found

    def source(self, event: TensorEvent) -> tuple[TensorEvent | None, bool]:
        (found,) = Dataflow(self.program.open()).producers(event)
        assert found.via == "variable"
        return found.event, found.inferred


@pytest.mark.parametrize("ours", [True, False])
def test_a_function_reads_what_another_one_has_assigned(tmp_path: Path, ours: bool) -> None:
    steps = Steps(tmp_path, ours)
    steps.step()
    steps.scaled()
    (before,) = steps.call("scaled", W, rows=("Read",))
    (first,) = steps.call("step", 9, W, rows=("Log",))
    (after,) = steps.call("scaled", W, rows=("Read",))
    steps.call("step", 10, V, rows=("Log",))
    (again,) = steps.call("scaled", W, rows=("Read",))
    (other,) = steps.call("step", 11, W, rows=("Log",))
    (last,) = steps.call("scaled", W, rows=("Read",))
    assert [steps.source(read)[0] for read in (before, after, again, last)] == [
        *(INITIAL, first, first, other)
    ]


@pytest.mark.parametrize("ours", [True, False])
def test_eager_ops_and_functions_assign_in_turn(tmp_path: Path, ours: bool) -> None:
    steps = Steps(tmp_path, ours)
    steps.step()
    steps.scaled()
    (log,) = steps.call("step", 9, W, rows=("Log",))
    steps.run("ReadVariableOp", W, made=20)
    steps.run("Neg", 20, made=21)
    steps.run("AssignVariableOp", W, 21)
    (read,) = steps.call("scaled", W, rows=("Read",))
    assert steps.source(TensorEvent("execution", 5, 0)) == (log, False)
    assert steps.source(read) == (TensorEvent("execution", 6, 0), False)


def test_what_is_added_to_a_bad_value_did_not_make_it_bad(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.scaled()
    sums = []
    for number, value in enumerate((1.0, np.nan, 1.0)):
        steps.run("Const", made=20 + number, value=value)
        steps.run("AssignAddVariableOp", W, 20 + number)
        total = 1.0 if number == 0 else np.nan
        sums += steps.call("scaled", W, value=total, rows=("Read",))
    made = [TensorEvent("execution", index, 0) for index in (4, 7)]
    assert [steps.source(read)[0] for read in sums] == [made[0], made[1], made[1]]


@pytest.mark.parametrize("ours", [True, False])
def test_a_branch_that_was_not_taken_has_assigned_nothing(tmp_path: Path, ours: bool) -> None:
    steps = Steps(tmp_path, ours)
    steps.function("step", "x", "w")
    for branch in ("true", "false"):
        steps.program.graph(branch, f"cond_{branch}_1", "step")
        steps.program.op(branch, "Placeholder", "x")
        steps.program.op(branch, "Placeholder", "w")
        if steps.ours:
            steps.program.function(branch, f"cond_{branch}_1", "x", "w")
    steps.program.op("true", "Log", "Log", "x:0")
    steps.program.op("true", "AssignVariableOp", "Assign", "w:0", "Log:0", outputs=0)
    called = ("true", "false") if steps.ours else ()
    steps.program.op("step", "If", "cond", "x:0", "x:0", "w:0", calls=called)
    steps.scaled()
    (taken,) = steps.call("step", 9, W, rows=("true:Log",))
    steps.call("step", 9, W)
    (read,) = steps.call("scaled", W, rows=("Read",))
    assert steps.source(read)[0] == taken


def test_nothing_is_said_of_a_function_that_assigns_several_variables(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.step("inner")
    steps.function("outer", "x", "w", "v")
    for name in ("w", "v"):
        inputs = ("x:0", f"{name}:0")
        steps.program.op("outer", "PartitionedCall", f"call_{name}", *inputs, calls=("inner",))
    steps.scaled()
    steps.call("outer", 9, W, V, rows=("inner:Log", "inner:Log"))
    (read,) = steps.call("scaled", W, rows=("Read",))
    assert steps.source(read) == (None, False)


def test_nothing_is_said_of_what_is_not_recorded(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.step()
    steps.scaled()
    steps.call("step", 9, W)
    (read,) = steps.call("scaled", W, rows=("Read",))
    assert steps.source(read) == (None, False)


def test_a_moment_that_an_optimizer_keeps_is_not_its_initial_value(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.function("step", "w", "m", "g")
    inputs = ("w:0", "m:0", "g:0")
    steps.program.op("step", "ResourceApplyAdaMax", "Apply", *inputs, outputs=0)
    steps.scaled()
    (gradient,) = steps.call("step", W, V, 9, rows=("g",))
    (weight,) = steps.call("scaled", W, rows=("Read",))
    (moment,) = steps.call("scaled", V, rows=("Read",))
    assert steps.source(weight) == (gradient, False)
    assert steps.source(moment) == (None, False)


@pytest.mark.parametrize("read_first", [True, False])
def test_functions_in_one_call_follow_each_other(tmp_path: Path, read_first: bool) -> None:
    steps = Steps(tmp_path)
    steps.step()
    steps.scaled()
    steps.function("outer", "x", "w")
    calls = [("step", ("x:0", "w:0")), ("scaled", ("w:0",))]
    for graph_id, inputs in reversed(calls) if read_first else calls:
        steps.program.op("outer", "PartitionedCall", graph_id, *inputs, calls=(graph_id,))
    first, read = steps.call("outer", 9, W, rows=("step:Log", "scaled:Read"))
    _, again = steps.call("outer", 9, W, rows=("step:Log", "scaled:Read"))
    expected = [INITIAL, first] if read_first else [first, TensorEvent("graph_execution", 2, 0)]
    assert [steps.source(event)[0] for event in (read, again)] == expected


def test_an_iteration_reads_what_the_one_before_has_assigned(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    program = steps.program
    for graph_id in ("cond", "body"):
        steps.function(graph_id, "x", "w")
    program.op("body", "ReadVariableOp", "Read", "w:0")
    program.op("body", "Log", "Log", "Read:0")
    program.op("body", "AssignVariableOp", "Assign", "w:0", "Log:0", outputs=0)
    steps.function("outer", "x", "w")
    program.op("outer", "While", "while", "x:0", "w:0", calls=("cond", "body"))
    for iteration in range(2):
        for name in ("Read", "Log"):
            program.trace("body", name, floats(1.0), serial=5, iteration=iteration)
    steps.call("outer", 9, W)
    reads = [TensorEvent("graph_execution", row, 0) for row in (0, 2)]
    assert [steps.source(read)[0] for read in reads] == [
        INITIAL,
        TensorEvent("graph_execution", 1, 0),
    ]


@pytest.mark.parametrize("reads", ["ReadVariableOp", "ResourceGather"])
@pytest.mark.parametrize(
    ("updates", "rule"),
    [
        ("AssignAddVariableOp", "variable-overflow"),
        ("ResourceScatterSub", "variable-overflow"),
        ("ResourceApplyAdam", "optimizer-step"),
    ],
)
def test_what_overflows_in_a_variable_was_written_down_by_nobody(
    tmp_path: Path, updates: str, rule: str, reads: str
) -> None:
    steps = Steps(tmp_path)
    for number in range(2):
        steps.run("Mul", 9, made=20 + number, value=3e38)
        steps.run(updates, W, 20 + number)
        steps.run(reads, W, made=30 + number, value=np.inf if number else 3e38)
    report = diagnose(steps.program.open())
    assert report.verdict == "bad"
    assert [root.rule for root in report.roots] == [rule]


def test_counts_of_rows_that_were_read_are_not_told_as_those_of_the_variable(
    tmp_path: Path,
) -> None:
    steps = Steps(tmp_path)
    steps.run("AssignVariableOp", W, 9)
    steps.run("ResourceGather", W, made=30, value=np.nan)
    steps.run("Sum", 30, made=31, value=np.nan)
    (root,) = diagnose(steps.program.open()).roots
    assert root.evidence.startswith("1 NaN of 1 elements that ResourceGather has read after")


def test_infinity_that_is_assigned_may_be_meant(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.run("AssignVariableOp", W, 9)
    steps.run("ReadVariableOp", W, made=30, value=np.inf)
    assert diagnose(steps.program.open()).verdict == "clean"


@pytest.mark.parametrize(
    "sets", ["ResourceScatterNdUpdate", "ResourceScatterMax", "ResourceStridedSliceAssign"]
)
def test_what_sets_a_part_of_a_variable_leaves_bad_what_it_does_not_set(
    tmp_path: Path, sets: str
) -> None:
    steps = Steps(tmp_path)
    steps.run("Log", 9, made=20, value=-np.inf)
    steps.run(sets, W, 8, 20)
    steps.run("Neg", 9, made=21)
    steps.run(sets, W, 8, 21)
    steps.run("ReadVariableOp", W, made=30, value=-np.inf)
    report = diagnose(steps.program.open())
    assert [root.op_type for root in report.roots] == ["Log"]


def test_a_part_of_a_variable_that_python_has_set_was_assigned(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    bad = np.array([8.0]), np.array([8.0]), np.array([np.nan])
    steps.program.execution("ResourceScatterNdUpdate", [W, 8, 9], {}, given=bad)
    steps.run("ResourceScatterNdUpdate", W, 8, 10)
    steps.run("ReadVariableOp", W, made=30, value=np.nan)
    made, _ = steps.source(TensorEvent("execution", 6, 0))
    assert made == TensorEvent("execution", 4, 0)
    (root,) = diagnose(steps.program.open()).roots
    assert root.rule == "assigned-bad"


@pytest.mark.parametrize(("takes", "verdict"), [("StridedSlice", "clean"), ("Sum", "bad")])
def test_a_variable_may_be_nan_where_nothing_was_put_yet(
    tmp_path: Path, takes: str, verdict: str
) -> None:
    steps = Steps(tmp_path)
    steps.run("Fill", 9, made=20, value=np.nan)
    steps.run("AssignVariableOp", W, 20)
    steps.run("ResourceScatterNdUpdate", W, 8, 9)
    steps.run("ReadVariableOp", W, made=30, value=np.nan)
    steps.run(takes, 30, made=31, value=1.0 if takes == "StridedSlice" else np.nan)
    assert diagnose(steps.program.open()).verdict == verdict
