"""What the user looks at: one immutable value that every pane shows its part of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from tfdbg_tui.query import first_in_order
from tfdbg_tui.tui.session.tree import UNFOLDED

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import TensorEvent


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A line of a source file, counted from 1."""

    host: str
    path: str
    line: int

    @property
    def text(self) -> str:
        """The line as editors and people name it."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class OpName:
    """An op of a graph."""

    graph_id: str
    name: str


@dataclass(frozen=True, slots=True)
class OtherProcess:
    """A process of the job that is to be opened.

    Attributes:
        number: Its position in the job.
        target: What to go to there, as typed after ``:``; "" for its first root.
    """

    number: int
    target: str = ""


@dataclass(frozen=True, slots=True)
class Sort:
    """In which order a list stands.

    Attributes:
        column: By which of its columns.
        reverse: Whether what would come first comes last.
    """

    column: str
    reverse: bool = False

    @property
    def words(self) -> str:
        """The order in words."""
        return f"by {self.column}, {first_in_order(self.column, reverse=self.reverse)}"


def _remapped_as(kind: str) -> dict[str, Any]:
    return {"remap": kind}


KEPT = _remapped_as("kept")
EXECUTION = _remapped_as("execution")
GRAPH_EXECUTION = _remapped_as("graph_execution")
TENSOR = _remapped_as("tensor")
TENSORS = _remapped_as("tensors")
"""What becomes of a field of the focus when rows of the run have moved: see `remap`."""


@dataclass(frozen=True, slots=True)
class Focus:
    """What the user looks at.

    Each field says what becomes of it when rows of the run have moved.

    Attributes:
        pane: The pane that keys act on.
        alert: The alert chosen last.
        execution: The focused execution, an index of the run.
        slot: Output of the focused execution.
        graph_execution: The focused graph execution, an index of the run.
        op: The op in the middle of Graph Structure.
        output: Which of its outputs, where that is not on record; None for one that is.
        branch: The chosen row of Graph Structure, as a path from its middle.
        forks: The rows of Graph Structure that were folded or unfolded, as paths.
        unfolded: How many rows of Graph Structure are there unless they were folded.
        bad_branches: Whether Graph Structure leaves out branches without NaN and ∞.
        subject: Whose stack trace is shown: whichever was focused last.
        frame: The focused frame of that stack trace, from the outermost.
        sticky: Whether the source file stays the same when another stack trace is shown.
        place: The focused source line.
        library_frames: Whether frames of libraries are unfolded.
        filters: The filter of each pane that has one, by the pane's name.
        in_time: Whether Alerts lists each alert in order of time, rather than causes.
        cause: The cause chosen in Alerts, by its tensor; None where an alert was chosen.
        open_causes: The causes whose alerts are listed, by their tensors.
        why: The tensor whose chain is shown; None while that is closed.
        why_from: The pane in which that was asked for; "" where nothing has been asked.
        link: The tensor on its chain that was chosen; None for the root.
        open_copies: The runs of copies on the chain that are unfolded, by their first tensors.
        part: The chosen part of the cause's card.
        worker: The chosen row of Workers, by the directory and name of its files; None for that of
            the shown run.
        sorts: By what the list of each pane that is sorted is, by the pane's name.
        relisted: Name of the pane that has just been filtered or sorted: one of its rows is chosen
            as soon as they are known; "" for none.
        other_process: The process that is to be opened next; None for none.
    """

    pane: str = field(metadata=KEPT)
    alert: TensorEvent | None = field(default=None, metadata=TENSOR)
    execution: int | None = field(default=None, metadata=EXECUTION)
    slot: int = field(default=0, metadata=KEPT)
    graph_execution: int | None = field(default=None, metadata=GRAPH_EXECUTION)
    op: OpName | None = field(default=None, metadata=KEPT)
    output: int | None = field(default=None, metadata=KEPT)
    branch: tuple[int, ...] = field(default=(), metadata=KEPT)
    forks: frozenset[tuple[int, ...]] = field(default=frozenset(), metadata=KEPT)
    unfolded: int = field(default=UNFOLDED, metadata=KEPT)
    bad_branches: bool = field(default=False, metadata=KEPT)
    subject: Literal["execution", "op"] = field(default="execution", metadata=KEPT)
    frame: int | None = field(default=None, metadata=KEPT)
    sticky: bool = field(default=False, metadata=KEPT)
    place: SourcePlace | None = field(default=None, metadata=KEPT)
    library_frames: bool = field(default=False, metadata=KEPT)
    filters: tuple[tuple[str, str], ...] = field(default=(), metadata=KEPT)
    in_time: bool = field(default=False, metadata=KEPT)
    cause: TensorEvent | None = field(default=None, metadata=TENSOR)
    open_causes: frozenset[TensorEvent] = field(default=frozenset(), metadata=TENSORS)
    why: TensorEvent | None = field(default=None, metadata=TENSOR)
    why_from: str = field(default="", metadata=KEPT)
    link: TensorEvent | None = field(default=None, metadata=TENSOR)
    open_copies: frozenset[TensorEvent] = field(default=frozenset(), metadata=TENSORS)
    part: int = field(default=0, metadata=KEPT)
    worker: tuple[str, str] | None = field(default=None, metadata=KEPT)
    sorts: tuple[tuple[str, Sort], ...] = field(default=(), metadata=KEPT)
    relisted: str = field(default="", metadata=KEPT)
    other_process: OtherProcess | None = field(default=None, metadata=KEPT)

    def filter_of(self, pane: str) -> str:
        """Return the filter of a pane; "" for none."""
        return dict(self.filters).get(pane, "")

    def sort_of(self, pane: str) -> Sort | None:
        """Return by what the list of a pane is sorted; None for its own order."""
        return dict(self.sorts).get(pane)

    def sorted_by(self, pane: str, sort: Sort | None) -> Focus:
        """Return the focus with the list of a pane sorted; None for its own order."""
        others = tuple(item for item in self.sorts if item[0] != pane)
        sorts = (*others, (pane, sort)) if sort else others
        return replace(self, sorts=sorts, relisted=pane if sort else "")

    def filtered(self, pane: str, text: str) -> Focus:
        """Return the focus with another filter of a pane; "" for none."""
        others = tuple(item for item in self.filters if item[0] != pane)
        filters = (*others, (pane, text)) if text else others
        return replace(self, filters=filters, relisted=pane if text else "")
