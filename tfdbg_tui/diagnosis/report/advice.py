"""What a dump cannot tell, and how to record one that can."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.locations import is_library_frame
from tfdbg_tui.wire.modes import TensorDebugMode, mode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfdbg_tui.diagnosis.rules.model import Case
    from tfdbg_tui.logdir import Run

ARGUMENTS = "with the program's own arguments behind"
_COUNTLESS = (TensorDebugMode.CURT_HEALTH, TensorDebugMode.CONCISE_HEALTH)


def modes_of(run: Run) -> set[int]:
    """Return the tensor debug modes that a run was recorded in."""
    eager = {kind.mode for kind in run.executions.distinct_kinds}
    return (eager | {site.mode for site in list(run.site_numbers)}) - {0}


def rerun(run: Run) -> tuple[str, str]:
    """Return the sentence and the command that records a run to explain."""
    command = f"tfdbg-tui run --tensor-debug-mode FULL_HEALTH {shlex.quote(script_of(run))}"
    return f"To settle it, {ARGUMENTS}:", command


def command_to_record(run: Run, options: str = "") -> str:
    """Return the command that records the program of a run again.

    Args:
        run: The run.
        options: Of the command.
    """
    return " ".join(filter(None, ("tfdbg-tui run", options, shlex.quote(script_of(run)))))


def advice(run: Run, unproved: Sequence[Case]) -> list[str]:
    """Return sentences about what the dump is too weak for, each with the line to run.

    Args:
        run: The run.
        unproved: The roots that no rule could prove.
    """
    uncounted = {case.out.mode for case in unproved if case.out.mode in _COUNTLESS}
    if not uncounted:
        return []
    if run.files.mode_name == "ADAPTIVE":
        why = (
            "ADAPTIVE counts the zeros and negative numbers of a bad tensor the first ten times "
            "that it looks alike, and this was later"
        )
    else:
        why = (
            f"This was recorded in {names_of(uncounted)}, which does not count zeros and negative "
            "numbers"
        )
    command = "\n".join(rerun(run))
    return [f"{why}: the cause is not proved. {command}"]


def names_of(modes: Iterable[int]) -> str:
    """Return the names of tensor debug modes, as in a sentence."""
    return " and ".join(mode_name(mode) for mode in sorted(modes))


def script_of(run: Run) -> str:
    """Return the path of the program, or words in its place, for a command to name it."""
    return program_of(run) or "your_program.py"


def program_of(run: Run) -> str:
    """Return the path of the program, from the outermost frame of its first execution.

    "" where no frame of it is on record.
    """
    stacks = run.executions.stack_ids[0:1].tolist() if len(run.executions) else []
    ops = next((g.ops for g in list(run.graphs.values()) if g.ops), {})
    stacks += [op.stack_id for op in list(ops.values())[:1]]
    for stack_id in stacks:
        for frame in run.stack(stack_id):
            path = frame.path or ""
            # A worker of multiprocessing is started by code in "<string>".
            is_file = not os.path.basename(path).startswith("<")
            if is_file and not is_library_frame(frame):
                # No option of the command it is to stand in, whatever it is called.
                return f"./{path}" if path.startswith("-") else path
    return ""
