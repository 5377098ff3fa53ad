"""To the computations of a tensor: which tensors are looked at together, and to one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import name_of, outputs_of_same_op, tensors_of_line
from tfdbg_tui.tui.navigation.chosen import chosen_tensor
from tfdbg_tui.tui.panes import source_code
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot


def tensors_together(snapshot: Snapshot, focus: Focus) -> tuple[list[TensorEvent], int]:
    """Return a computation of each tensor whose history is of interest, and which to begin with.

    In Source Code those are the tensors of the focused line, elsewhere the outputs of the op of the
    focused tensor.

    Raises:
        NowhereError: There is none.
    """
    run, dataflow = snapshot.run, snapshot.dataflow
    event = chosen_tensor(snapshot, focus)
    if focus.pane == source_code.SPEC.name and focus.place is not None:
        found = tensors_of_line(dataflow, focus.place.path, focus.place.line)
        if not found:
            raise NowhereError("no tensor that this line computes is on record")
    elif event is not None:
        found = outputs_of_same_op(dataflow, event) or [event]
    else:
        raise NowhereError("no tensor is focused")
    if event is None:
        return found, 0
    names = [(other.kind, name_of(run, other)) for other in found]
    own = (event.kind, name_of(run, event))
    if own not in names:
        return found, 0
    chosen = names.index(own)
    return [*found[:chosen], event, *found[chosen + 1 :]], chosen


def go_to_tensor(snapshot: Snapshot, focus: Focus, event: TensorEvent) -> Focus:
    """Go to a tensor, in the pane that lists it.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        event: The tensor.
    """
    focus = focus_event(snapshot, focus, event)
    return replace(focus, pane=pane_of_subject(focus))
