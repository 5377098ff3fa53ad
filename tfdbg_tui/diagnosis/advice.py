"""What a dump cannot tell, and how to record one that can."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.locations import is_library_frame
from tfdbg_tui.diagnosis.optypes import FLOAT_OPS
from tfdbg_tui.wire.modes import TensorDebugMode, mode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.diagnosis.rules.model import Case
    from tfdbg_tui.logdir import Run

_BLIND = (TensorDebugMode.NO_TENSOR, TensorDebugMode.SHAPE)
_COUNTLESS = (TensorDebugMode.CURT_HEALTH, TensorDebugMode.CONCISE_HEALTH)
_DEFAULT_BUFFER = 1000
_FEW = 10


def modes_of(run: Run) -> set[int]:
    """Return the tensor debug modes that a run was recorded in."""
    eager = {run.executions.kind_by_id(i).mode for i in range(run.executions.num_kinds)}
    return (eager | {site.mode for site in list(run.site_numbers)}) - {0}


def is_blind(run: Run) -> bool:
    """Whether a dump tells nothing about NaN and ∞."""
    modes = modes_of(run)
    return bool(modes) and modes <= set(_BLIND)


def rerun(run: Run) -> str:
    """Return the sentence and, in a line of its own, the command that records a run to explain."""
    command = f"tfdbg-tui run --tensor-debug-mode FULL_HEALTH {shlex.quote(_script(run))}"
    return f"To settle it, with the program's own arguments behind:\n{command}"


def advice(run: Run, unproved: Sequence[Case]) -> list[str]:
    """Return sentences about what the dump is too weak for, each with the line to run.

    Args:
        run: The run.
        unproved: The roots that no rule could prove.
    """
    sentences = []
    if not len(run.executions) and not len(run.graph_executions):
        return ["Nothing was executed, or nothing of it was recorded."]
    if is_blind(run):
        sentences.append(
            f"This dump was recorded in {_names(modes_of(run))}, which says nothing about NaN "
            f"and ∞: it can neither find nor exclude them. {rerun(run)}"
        )
    uncounted = [case for case in unproved if case.out.mode in _COUNTLESS]
    if uncounted:
        mode = _names({case.out.mode for case in uncounted})
        sentences.append(
            f"This was recorded in {mode}, which does not count zeros and negative numbers: the "
            f"cause is not proved. {rerun(run)}"
        )
    if not unproved and run.num_alerts:
        return sentences
    if is_circular(run):
        sentences.append(
            "The dump comes from a circular buffer, which keeps only the last events: what came "
            f"before is lost, and the first bad tensor may be among it. {rerun(run)}"
        )
    elif run.files.filters or _looks_filtered(run):
        how = ", ".join(run.files.filters) or "op_regex or tensor_dtypes, it seems"
        sentences.append(
            f"The dump was filtered ({how}): what other ops made is not on record, and the first "
            f"bad tensor may be among it. {rerun(run)}"
        )
    return sentences


def _names(modes: Iterable[int]) -> str:
    return " and ".join(mode_name(mode) for mode in sorted(modes))


def is_circular(run: Run) -> bool:
    """Whether events were probably dropped.

    Our writer says how many it keeps, and numbers executions.  Of TensorFlow's, there are exactly
    the usual number, or as many executions as graph executions.
    """
    executions, traces = len(run.executions), len(run.graph_executions)
    size = run.files.circular_buffer_size
    if size:
        return max(executions, traces) >= size
    first = run.executions[0].serial if executions else None
    if first is not None:
        return first > 1 and (run.executions[executions - 1].serial or 0) > executions
    return _DEFAULT_BUFFER in (executions, traces) or executions == traces > _FEW


def _looks_filtered(run: Run) -> bool:
    """Whether ops of a graph left no record although others did, as all do without filters.

    Not in ADAPTIVE, where ops that nothing uses do not run.
    """
    if len(modes_of(run)) != 1:
        return False
    recorded: dict[str, set[str]] = {}
    for site in list(run.site_numbers):
        recorded.setdefault(site.graph_id, set()).add(site.op_name)
    return any(
        op.op_type in FLOAT_OPS and op.name not in names
        for graph_id, names in recorded.items()
        if graph_id in run.graphs
        for op in list(run.graphs[graph_id].ops.values())
    )


def _script(run: Run) -> str:
    """Return the path of the program, from the outermost frame of its first execution."""
    stacks = run.executions.stack_ids[0:1].tolist() if len(run.executions) else []
    ops = next((g.ops for g in list(run.graphs.values()) if g.ops), {})
    stacks += [op.stack_id for op in list(ops.values())[:1]]
    for stack_id in stacks:
        for frame in run.stack(stack_id):
            if frame.path and not is_library_frame(frame):
                return frame.path
    return "your_program.py"
