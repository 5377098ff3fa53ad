"""What makes a run incomplete: what it may have computed that is not on record."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.locations import is_library_frame
from tfdbg_tui.diagnosis.report.advice import (
    ARGUMENTS,
    command_to_record,
    modes_of,
    names_of,
    rerun,
)
from tfdbg_tui.diagnosis.report.gap import Gap
from tfdbg_tui.diagnosis.report.missing_records import (
    computes_complex,
    late_tensor,
    ops_without_record,
    rare_op,
    undefined_op,
)
from tfdbg_tui.diagnosis.report.omission_gaps import forked, left_out
from tfdbg_tui.logdir.text import counted
from tfdbg_tui.wire import filesets, omissions
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.logdir import Run

RUNNING = "running"
FILTERED = "filtered"
CIRCULAR_BUFFER = "circular_buffer"
BLIND = "blind"
EMPTY = "empty"
DAMAGED = "damaged"

ON_PURPOSE = (FILTERED, CIRCULAR_BUFFER, omissions.PAUSED)
"""Gaps that the user has asked for."""

_BLIND_MODES = (TensorDebugMode.NO_TENSOR, TensorDebugMode.SHAPE)
_LOOK_AT_FLOATS = {
    TensorDebugMode.CURT_HEALTH,
    TensorDebugMode.CONCISE_HEALTH,
    TensorDebugMode.FULL_HEALTH,
}
_DEFAULT_BUFFER = 1000
_FEW = 10
_SHOWN = 20
_NEEDED = (
    filesets.METADATA,
    filesets.GRAPHS,
    filesets.EXECUTION,
    filesets.GRAPH_EXECUTION_TRACES,
)


def find_gaps(run: Run) -> list[Gap]:
    """Return what a run has left out, the gravest first; what several processes say, once."""
    found = list(dict.fromkeys(gap for find in _FINDERS for gap in find(run)))
    if len(found) > _SHOWN:
        more = f"and {len(found) - _SHOWN:,} more things are not on record"
        found = [*found[:_SHOWN], Gap(omissions.SKIPPED, more)]
    return found


def is_blind(run: Run) -> bool:
    """Whether a dump tells nothing about NaN and ∞."""
    modes = modes_of(run)
    return bool(modes) and modes <= set(_BLIND_MODES)


def is_circular(run: Run) -> bool:
    """Whether events were probably dropped.

    Our writer says how many it keeps, and numbers executions.  Of TensorFlow's, there are exactly
    the usual number, or as many executions as graph executions.
    """
    executions, traces = len(run.executions), len(run.graph_executions)
    size = run.files.circular_buffer_size
    if size or run.files.is_of_our_writer:
        return 0 < size <= max(executions, traces)
    first = run.executions[0].serial if executions else None
    if first is not None:
        return first > 1 and (run.executions[executions - 1].serial or 0) > executions
    return _DEFAULT_BUFFER in (executions, traces) or executions == traces > _FEW


def _empty(run: Run) -> Iterator[Gap]:
    if not run.num_events:
        yield Gap(EMPTY, "Nothing was executed, or nothing of it was recorded.")


def _unended(run: Run) -> Iterator[Gap]:
    """Yield what is missing because the program has not ended, or not in order."""
    if run.state.killed:
        alone = len(run.files.file_sets) == 1
        by = ", as by terminate() of subprocess or of a pool"
        who = "The program was killed" if alone else f"A process was killed{by}"
        in_order = "" if alone else "Let it end by itself, or call sys.exit at SIGTERM. "
        waited = ", and healthy records that waited in memory are" if run.only_bad_reason else ""
        yield Gap(
            "killed",
            f"{who}, crashed or left by os._exit: what it computed in the last quarter second may "
            f"be missing{waited}, and nobody knows what would have come. {in_order}Again, "
            f"{ARGUMENTS}:",
            command_to_record(run),
        )
    elif run.state.writing and not run.state.ended:
        is_at = "is stopped, as by Ctrl-Z or SIGSTOP" if run.state.suspended else "still runs"
        text = f"The program {is_at}: this is what it has recorded so far. To wait for its end:"
        logdir = shlex.quote(run.files.directory)
        yield Gap(RUNNING, text, f"tfdbg-tui diagnose {logdir} --follow")
    elif run.files.is_of_our_writer and run.state.writing is None:
        yield Gap(
            "unended",
            "The dump has not been ended, so the program runs, or was killed; on another host than "
            "its own that cannot be told. What it computed after the last record is not known.",
        )


def _damaged(run: Run) -> Iterator[Gap]:
    suffixes = tuple(f".{suffix}" for suffix in _NEEDED)
    # Of ours that runs, the last record may be under way: it tells itself what it could not write.
    under_way = run.files.is_of_our_writer and not run.state.ended
    damaged = {
        problem.path
        for problem in run.problems
        if problem.path.endswith(suffixes) and not (problem.passing and under_way)
    }
    if damaged:
        names = ", ".join(sorted(map(os.path.basename, damaged)))
        yield Gap(DAMAGED, f"Not all of {names} can be read: what stood there is not known.")


def _cut(run: Run) -> Iterator[Gap]:
    """Yield what must have stood in a file of TensorFlow's writer that ends as if it were whole."""
    if run.files.is_of_our_writer or is_circular(run) or not run.progress.complete:
        return
    if any(_damaged(run)):
        return  # What can be read tells no more.
    undefined, rare = undefined_op(run), rare_op(run)
    found = "" if undefined is not None else _unrecorded_call(run)
    if found:
        yield Gap(
            DAMAGED,
            f"A file was cut between records, or is not written to its end yet: {found}. "
            f"{rerun(run)[0]}",
            rerun(run)[1],
        )
    if undefined is not None:
        yield Gap(
            DAMAGED,
            f"The file of graphs was cut: it does not have {undefined.op_name}, a tensor of which "
            f"is on record. Which ops left no record cannot be told. {rerun(run)[0]}",
            rerun(run)[1],
        )
    if rare is not None:
        yield Gap(
            DAMAGED,
            f"The file of graph executions was cut: {rare.function} was called {rare.calls:,} "
            f"times, and {rare.op_name} in it is on record "
            f"{counted(rare.count, 'time')}. The first bad tensor may be among what is missing. "
            f"{rerun(run)[0]}",
            rerun(run)[1],
        )


def _unrecorded_call(run: Run) -> str:
    """Say of which op or call there is no record, as far as the other files tell; "" for none."""
    frames = [frame for frame in run.unused_frames() if frame.path]
    frames.sort(key=is_library_frame)
    if frames:
        return f"there is no record of the op at {frames[0].path}:{frames[0].line}"
    late = late_tensor(run)
    if late is not None:
        return f"there is no record of the call in which {late.op_name} was computed last"
    return ""


def _blind(run: Run) -> Iterator[Gap]:
    if is_blind(run):
        yield Gap(
            BLIND,
            f"This dump was recorded in {names_of(modes_of(run))}, which says nothing about NaN "
            f"and ∞: it can neither find nor exclude them. {rerun(run)[0]}",
            rerun(run)[1],
        )


def _circular(run: Run) -> Iterator[Gap]:
    if is_circular(run):
        yield Gap(
            CIRCULAR_BUFFER,
            "The dump comes from a circular buffer, which keeps only the last events: what came "
            f"before is lost, and the first bad tensor may be among it. {rerun(run)[0]}",
            rerun(run)[1],
        )


def _filtered(run: Run) -> Iterator[Gap]:
    if run.files.filters:
        found = "" if _has_tensors(run) else "Nothing that ran is within that; is it spelt right? "
        if _steps_are_unmarked(run):
            found += (
                "No record is of a marked step: none of these came; or the program marks none "
                "(Keras' fit does, and tfdbg_tui.step), and then steps leaves nothing out. "
            )
        yield Gap(
            FILTERED,
            f"The dump was filtered ({', '.join(run.files.filters)}): what was filtered out is not "
            f"on record, and the first bad tensor may be among it. {found}{rerun(run)[0]}",
            rerun(run)[1],
        )


def _steps_are_unmarked(run: Run) -> bool:
    """Whether only some steps were to be recorded, and no record is of a marked one."""
    limited = any(text.startswith("steps=") for text in run.files.filters)
    return limited and _has_tensors(run) and not run.executions.step_marks[:].any()


def _has_tensors(run: Run) -> bool:
    """Whether more is on record than calls of functions."""
    kinds = run.executions.distinct_kinds
    return len(run.graph_executions) > 0 or not all(kind.is_function for kind in kinds)


def _left_no_record(run: Run) -> Iterator[Gap]:
    """Yield what TensorFlow's writer has left out, as far as that shows: it does not say so."""
    if run.files.is_of_our_writer or len(modes_of(run)) != 1 or is_circular(run):
        return
    unseen = next(ops_without_record(run), None)
    if unseen is not None:
        yield Gap(
            FILTERED,
            f"Ops left no record although their graph ran, {unseen.name} "
            f"({unseen.op_type}) for one: op_regex or tensor_dtypes left them out, or they did "
            "not run, or were imported, or computed complex numbers, or the file was cut. The "
            f"first bad tensor may be among them. {rerun(run)[0]}",
            rerun(run)[1],
        )
    elif not looks_at_complex(run) and computes_complex(run):
        yield Gap(
            FILTERED,
            "Complex numbers were computed, at which TensorFlow's writer does not look in "
            f"{names_of(modes_of(run))}. {rerun(run)[0]}",
            rerun(run)[1],
        )


def looks_at_complex(run: Run) -> bool:
    """Whether a dump tells of NaN and ∞ in complex tensors."""
    return run.files.is_of_our_writer or not modes_of(run) & _LOOK_AT_FLOATS


def uncounted(run: Run) -> list[str]:
    """Return what is to be said where the writer does not say how many records it wrote."""
    if run.files.is_of_our_writer:
        return []
    return [
        "TensorFlow's writer does not say how many records it has written: a file that was cut "
        "between two of them can look whole."
    ]


_FINDERS: tuple[Callable[[Run], Iterator[Gap]], ...] = (
    _empty,
    left_out,
    forked,
    _unended,
    _damaged,
    _cut,
    _blind,
    _circular,
    _filtered,
    _left_no_record,
)
