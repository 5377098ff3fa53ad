"""Why calls have failed: what TensorFlow said, and of which op, as far as that is on record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import Calls
from tfdbg_tui.diagnosis.locations import location_of
from tfdbg_tui.wire import omissions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.logdir import GraphOp, Omission, Run

_TRIED = 100  # calls of one function that gave nothing: of one without outputs some may have ended
_LONGEST = 300
_AT_END = 32  # executions among which is the one that ended the program
_ALIKE = 60  # characters of an error by which it is known again

_FAILED_OP = re.compile(r"\[\[(?:\{\{function_node [^{}]*\}\})?\{\{node ([^{}]+)\}\}")
_NODE = re.compile(r"\{\{(?:function_)?node [^{}]*\}\}")
_OP = re.compile(r"\[Op:[^\]]*\].*")
_FUNCTION = re.compile(r"__(?:inference|forward|backward)_(.+)_\d+")


_FIXES = (
    (
        re.compile(r"^indices\b.* is not in \[0, \d+\)"),
        "The largest index has to be one less than there are rows: input_dim of an Embedding.",
    ),
    (
        re.compile(r"^Received a label value of .* outside the valid range of \[0, \d+\)"),
        "Classes are numbered from 0 on, and the last layer needs a unit for each.",
    ),
)
"""What helps where TensorFlow says something."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call has failed.

    Attributes:
        message: What TensorFlow said.
        op: The op of a graph that has raised; None where that is not told.
        location: The user's line that made it, or that called what raised.
    """

    message: str
    op: GraphOp | None
    location: Location | None

    @property
    def place(self) -> str:
        """The op, or the call that ran it, and its line in words; "" where neither is known."""
        op, line = self.op, self.location
        if op is None and line is None:
            return ""
        what = f"{op.name} ({op.op_type})" if op is not None else "a call"
        return f"{what} at {line.file}:{line.line} in {line.function}" if line else what

    @property
    def fix(self) -> str:
        """What helps; "" where nothing is known to."""
        return next((fix for said, fix in _FIXES if said.search(self.message)), "")


def failure_at_end(run: Run, reason: str) -> Failure:
    """Return the failure that ended the program, with its place if it is that of a recorded call.

    Args:
        run: The run.
        reason: Type and message of the error, as the writer tells them of the program.
    """
    executions = run.executions
    of_program, _, what = reason.partition(": ")
    told = _without_names(what)
    for row in reversed(range(max(0, len(executions) - _AT_END), len(executions))):
        execution = executions[row]
        name, _, message = (execution.error or "").partition(": ")
        if not told or (name, _without_names(message)[:_ALIKE]) != (of_program, told[:_ALIKE]):
            continue
        op = _failed_op(run, execution.graph_id, message)
        stack_id = op.stack_id if op is not None else execution.stack_id
        is_known = op is not None or execution.graph_id is None
        return Failure(told, op, location_of(run, stack_id) if is_known else None)
    return Failure(told, None, None)


def failure_of(run: Run, omission: Omission) -> Failure | None:
    """Return the first failure for which what a call computed is not on record.

    Args:
        run: The run.
        omission: What the writer says of such calls; None is returned for any other.
    """
    error_type, _, why = omission.reason.partition(" ")
    if why != omissions.BY_FAILURE:
        return None
    for row in _rows_without_result(run, omission.what):
        execution = run.executions[row]
        name, _, message = (execution.error or "").partition(": ")
        if name == error_type:
            op = _failed_op(run, execution.graph_id, message)
            return Failure(
                _without_names(message), op, location_of(run, op.stack_id) if op else None
            )
    return None


def _rows_without_result(run: Run, what: str) -> Iterator[int]:
    """Yield calls of the function that is meant that gave nothing, as those that failed."""
    executions = run.executions
    for kind_id, kind in enumerate(executions.distinct_kinds):
        function = _FUNCTION.fullmatch(kind.op_type)
        name = function[1] if function is not None else kind.op_type
        if kind.num_outputs == 0 and what.startswith(f"what {name} computed"):
            yield from np.flatnonzero(executions.kinds[:] == kind_id)[:_TRIED].tolist()


def _failed_op(run: Run, graph_id: str | None, message: str) -> GraphOp | None:
    """Return the op that a message names, perhaps after the names of what calls its graph."""
    named = _FAILED_OP.search(message)
    if named is None or graph_id is None:
        return None
    calls, name = Calls(run), f"/{named[1]}"
    found = [
        op
        for graph in list(run.graphs.values())
        if calls.outermost(graph.graph_id) == graph_id
        for op in list(graph.ops.values())
        if name.endswith(f"/{op.name}")
    ]
    longest = max((len(op.name) for op in found), default=0)
    found = [op for op in found if len(op.name) == longest]
    return found[0] if len(found) == 1 else None


def _without_names(message: str) -> str:
    """Return what is said in a message of TensorFlow's, without the names of ops and functions."""
    told = _OP.sub("", _NODE.sub("", message.partition("[[")[0]))
    text = " ".join(told.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
