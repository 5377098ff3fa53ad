"""Focusing something, and what moves along with it: the op, the stack trace, the source line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import TensorEvent, user_frame
from tfdbg_tui.tui.session.calls import row_at
from tfdbg_tui.tui.session.focus import OpName, SourcePlace
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.logdir import StackFrame
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

# Its own modules, and what records: frames in them tell nothing about the program.
_TENSORFLOW = re.compile(r"[/\\](tensorflow|tfdbg_tui)[/\\]|^<|__autograph_generated")


def focus_alert(snapshot: Snapshot, focus: Focus, position: int) -> Focus:
    """Focus an alert and the tensor it is about.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        position: Position of the alert in the run, from 0.
    """
    alert = snapshot.alerts[position]
    return focus_event(snapshot, replace(focus, alert=alert, cause=None), alert)


def focus_first_alert(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus the first root, without any the first suspect, before the diagnosis the first alert.

    In Alerts that is the row of the cause, not the same tensor among its alerts.  Within one call
    of a function the order of time need not be the order of cause and effect.

    Raises:
        NowhereError: There is none of them.
    """
    alerts = snapshot.alerts
    first = snapshot.explanation.first if snapshot.explanation else None
    position = alerts.position(first) if first else None
    if first is not None and position is None:
        return focus_event(snapshot, replace(focus, cause=first), first)
    if not len(alerts) and snapshot.is_blind:
        raise NowhereError("this dump says nothing about NaN and ∞: ! tells what to record")
    if not len(alerts):
        so_far = "recorded" if snapshot.run.progress.complete else "read so far"
        raise NowhereError(f"no tensor with NaN or ∞ has been {so_far}")
    return replace(focus_alert(snapshot, focus, position or 0), cause=first)


def focus_event(snapshot: Snapshot, focus: Focus, event: TensorEvent) -> Focus:
    """Focus a tensor.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        event: The tensor.
    """
    if event.kind == "execution":
        return focus_execution(snapshot, focus, event.index, event.slot)
    return focus_graph_execution(snapshot, focus, event.index)


def focus_execution(snapshot: Snapshot, focus: Focus, index: int, slot: int = 0) -> Focus:
    """Focus an execution and the stack trace it has, and where Graph Execution stands for it.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        index: Position of the execution in the run, from 0.
        slot: Which output of it; None for all.
    """
    row = focus.graph_execution
    if row is None or snapshot.execution_of(row) != index:
        row = row_at(snapshot, index)
    focus = replace(focus, execution=index, slot=slot, graph_execution=row)
    return look_at_execution(snapshot, focus)


def look_at_execution(snapshot: Snapshot, focus: Focus) -> Focus:
    """Show the stack trace of the focused execution; both lists stay where they are."""
    focus = replace(focus, subject="execution", branch=(), forks=frozenset())
    return _show_stack(snapshot, focus)


def look_at_graph_execution(snapshot: Snapshot, focus: Focus, index: int) -> Focus:
    """Focus a graph execution and its op; Python Execution Timeline stays where it is.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        index: Position of the graph execution in the run, from 0.
    """
    site = snapshot.run.graph_executions.site(index)
    focus = replace(focus, graph_execution=index)
    return focus_op(snapshot, focus, OpName(site.graph_id, site.op_name))


def focus_graph_execution(snapshot: Snapshot, focus: Focus, index: int) -> Focus:
    """Focus a graph execution, its op, and the execution that caused it where that is known.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        index: Position of the graph execution in the run, from 0.
    """
    caused_by = snapshot.execution_of(index)
    if caused_by is not None and caused_by != focus.execution:
        focus = replace(focus, execution=caused_by, slot=0)
    return look_at_graph_execution(snapshot, focus, index)


def focus_op(snapshot: Snapshot, focus: Focus, op: OpName, output: int | None = None) -> Focus:
    """Focus an op of a graph and the stack trace of its creation.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        op: The op.
        output: Which of its outputs; None for whichever was recorded.
    """
    focus = replace(focus, op=op, output=output, subject="op", branch=(), forks=frozenset())
    return _show_stack(snapshot, focus)


def focus_frame(snapshot: Snapshot, focus: Focus, frame: int) -> Focus:
    """Focus a frame by the user's choice, and the line it stands on.

    Choosing the innermost frame of a file makes the file stick: stack traces shown later open on
    their innermost frame in the same file.  Choosing any other frame ends that.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        frame: Position of the frame in the stack trace, from 0.
    """
    frames = snapshot.frames(focus)
    last = _last_in_file(frames, _place_of(frames[frame]))
    return _stand_on(frames, replace(focus, sticky=frame == last), frame)


def focus_newest(snapshot: Snapshot, focus: Focus) -> Focus:
    """Focus the last event of each list."""
    run = snapshot.run
    graph_executions, executions = len(run.graph_executions), len(run.executions)
    if executions:
        focus = focus_execution(snapshot, focus, executions - 1)
    if graph_executions:
        focus = look_at_graph_execution(snapshot, focus, graph_executions - 1)
    return focus


def focused_event(snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
    """Return the tensor that was focused last, in whichever list it is."""
    if focus.subject == "execution" and focus.execution is not None:
        return TensorEvent("execution", focus.execution, focus.slot)
    if focus.graph_execution is None:
        return None
    slot = snapshot.run.graph_executions.site(focus.graph_execution).output_slot
    return TensorEvent("graph_execution", focus.graph_execution, slot)


def _show_stack(snapshot: Snapshot, focus: Focus) -> Focus:
    frames = snapshot.frames(focus)[: snapshot.own_frames(focus) or None]
    if not frames:
        return replace(focus, frame=None)
    frame = _last_in_file(frames, focus.place) if focus.sticky else None
    if frame is None:
        frame = user_frame(frames)
    if frame is not None:
        return _stand_on(frames, focus, frame)
    focus = _stand_on(frames, focus, _outside_tensorflow(frames))
    place = snapshot.place_of_user(focus)
    return focus if place is None else replace(focus, place=place)


def _outside_tensorflow(frames: tuple[StackFrame, ...]) -> int:
    """Return the innermost frame that is not TensorFlow's: Keras' loss, say; else the innermost."""
    for position in reversed(range(len(frames))):
        if not _TENSORFLOW.search(frames[position].path or "<"):
            return position
    return len(frames) - 1


def _stand_on(frames: tuple[StackFrame, ...], focus: Focus, frame: int) -> Focus:
    return replace(focus, frame=frame, place=_place_of(frames[frame]) or focus.place)


def _place_of(frame: StackFrame) -> SourcePlace | None:
    return SourcePlace(frame.host, frame.path, frame.line) if frame.path else None


def _last_in_file(frames: tuple[StackFrame, ...], place: SourcePlace | None) -> int | None:
    if place is None:
        return None
    same = [i for i, f in enumerate(frames) if (f.host, f.path) == (place.host, place.path)]
    return same[-1] if same else None
