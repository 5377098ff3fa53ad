"""Recorded tensors in Chrome's trace format, which Perfetto and chrome://tracing show.

The format: "Trace Event Format", a document of the Chromium project.  A dump says when a tensor
was recorded and not how long its op took, so each is an instant event; a counter shows how many
had been bad by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdbg_tui.query.language import parse
from tfdbg_tui.query.tensors import tensor_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir import Run
    from tfdbg_tui.query.tensors import TensorRow

_MICROSECONDS = 1e6
_ARGUMENTS = ("index", "output", "step", "iteration", "file", "line", "dtype", "shape", "size")


def trace_events(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the events of a trace: names of processes and tracks when they are first needed.

    Args:
        run: The run.
    """
    tracks: dict[tuple[int, str], int] = {}
    bad: dict[int, int] = {}
    for row in tensor_rows(run, parse("")):
        if row.process not in bad:
            bad[row.process] = 0
            yield _name("process_name", row.process, 0, f"{row.host} process {row.process}")
        track = (row.process, _track(row))
        if track not in tracks:
            tracks[track] = len(tracks) + 1
            yield _name("thread_name", row.process, tracks[track], track[1])
        yield _instant(row, tracks[track])
        if row.summary and row.summary.bad:
            bad[row.process] += 1
            yield {
                "name": "bad tensors",
                "ph": "C",
                "ts": row.wall_time * _MICROSECONDS,
                "pid": row.process,
                "args": {"bad": bad[row.process]},
            }


def _track(row: TensorRow) -> str:
    if row.event.kind == "execution":
        return "Python" if row.thread is None else f"Python thread {row.thread}"
    return row.device or "graphs"


def _name(of: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"name": of, "ph": "M", "pid": process, "tid": track, "args": {"name": name}}


def _instant(row: TensorRow, track: int) -> dict[str, Any]:
    values = row.values()
    counts = ("neg_inf", "pos_inf", "nan") if row.summary and row.summary.bad else ()
    told = {name: values[name] for name in (*_ARGUMENTS, *counts) if values[name] is not None}
    return {
        "name": row.name,
        "cat": "bad" if counts else "finite",
        "ph": "i",
        "s": "t",
        "ts": row.wall_time * _MICROSECONDS,
        "pid": row.process,
        "tid": track,
        "args": {"op type": row.op_type, "function": row.function, **told},
    }
