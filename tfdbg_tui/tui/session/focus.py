"""What the user looks at: one immutable value that every pane shows its part of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.events import TensorEvent

PaneName = Literal[
    "alerts",
    "timeline",
    "graph_execution",
    "graph_structure",
    "source_code",
    "stack_trace",
    "why",
    "cause",
]
PANES: tuple[PaneName, ...] = (
    "alerts",
    "timeline",
    "graph_execution",
    "graph_structure",
    "source_code",
    "stack_trace",
)
"""The panes that are always there and have numbers."""

WHY_PANES: tuple[PaneName, ...] = ("why", "cause")
"""The panes that answer why a tensor is as it is, on demand."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source file, counted from 1."""

    host: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class OpName:
    """An op of a graph."""

    graph_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Focus:
    """What the user looks at.

    Attributes:
        pane: The pane that keys act on.
        alert: The alert chosen last.
        execution: The focused execution, an index of the run.
        slot: Output of the focused execution.
        graph_execution: The focused graph execution, an index of the run.
        op: The op in the middle of Graph Structure.
        neighbour: Row of Graph Structure; None for the op itself.
        subject: Whose stack trace is shown: whichever was focused last.
        frame: The focused frame of that stack trace, from the outermost.
        sticky: Whether the source file stays the same when another stack trace is shown.
        place: The focused source line.
        library_frames: Whether frames of libraries are unfolded.
        bad_only: Whether Graph Execution lists nothing but tensors with NaN or ∞.
        in_time: Whether Alerts lists each alert in order of time, rather than causes.
        cause: The cause chosen in Alerts, by its tensor; None where an alert was chosen.
        open_causes: The causes whose alerts are listed, by their tensors.
        why: The tensor whose chain is shown; None while that is closed.
        why_from: The pane in which that was asked for.
        link: The tensor on its chain that was chosen; None for the root.
        open_copies: The runs of copies on the chain that are unfolded, by their first tensors.
        part: The chosen part of the cause's card.
    """

    pane: PaneName = "alerts"
    alert: TensorEvent | None = None
    execution: int | None = None
    slot: int = 0
    graph_execution: int | None = None
    op: OpName | None = None
    neighbour: int | None = None
    subject: Literal["execution", "op"] = "execution"
    frame: int | None = None
    sticky: bool = False
    place: Place | None = None
    library_frames: bool = False
    bad_only: bool = False
    in_time: bool = False
    cause: TensorEvent | None = None
    open_causes: frozenset[TensorEvent] = frozenset()
    why: TensorEvent | None = None
    why_from: PaneName = "alerts"
    link: TensorEvent | None = None
    open_copies: frozenset[TensorEvent] = frozenset()
    part: int = 0
