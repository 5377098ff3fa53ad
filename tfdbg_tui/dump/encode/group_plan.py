"""What the values mean that the graph of a group of tensors hands over when it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfdbg_tui.dump.encode import queue_rows, traces
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.dump.encode.sent import SentTensors
    from tfdbg_tui.dump.encode.settled import Makers, SettledPatterns
    from tfdbg_tui.dump.encode.summaries import HealthCounts

Values = dict[str, list[Any]]
"""The arrays of each column of `GroupPlan.columns`, and what rows in the queue tell."""


@dataclass(frozen=True, slots=True)
class Row:
    """A tensor of a graph; `shape` is None unless it is known while tracing.

    `watched` says whether the filters let it through.
    """

    graph_id: str
    op_name: str
    slot: int
    tensor_id: int
    dtype: int
    shape: tuple[int, ...] | None
    rank: int | None
    device: str
    watched: bool

    @property
    def size(self) -> int | None:
        """Number of elements, where known."""
        return math.prod(self.shape) if self.shape is not None else None

    @property
    def tensor_name(self) -> str:
        """The tensor's name in its graph."""
        return f"{self.op_name}:{self.slot}"

    @property
    def site(self) -> traces.Site:
        """What identifies its records."""
        return traces.Site(self.graph_id, self.op_name, self.slot, self.device)


class HandedOver(NamedTuple):
    """A tensor as it is handed over.

    Attributes:
        dtype: Type of its elements.
        shape: Its shape; None where that is told in each execution.
    """

    dtype: Any
    shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Product:
    """A tensor that is not handed over, but computed again where its elements are asked for.

    The row that covers it is the sum of it and a bias, and is handed over in its place.

    Attributes:
        inputs: The arguments of `Group.detail` that it is computed of.
        bias: The argument that is added to it.
        compute: Computes it of its inputs.
    """

    inputs: tuple[int, ...]
    bias: int
    compute: Callable[..., Any]


@dataclass(eq=False)
class GroupPlan:
    """A group of graph tensors that are observed together.

    `instrument` fills it in while it makes the ops that observe them; then it does not change.

    Attributes:
        rows: The tensors.
        mode: Mode of their records.
        iterated: Whether they are in the body of a loop, whose iteration is handed over.
        measured: Whether now and then all rows are handed over with their extremes.
        adaptive: Whether bad tensors, and the inputs of their ops, are described in full.
        dump_mode: The mode of the dump, which that of a tensor that is recorded whole may not be.
        first_only: Whether no more than the first executions are recorded.
        overwritten: Whether the tensors will be gone when something made from them is seen to be
            bad, so that those that are not too large are detailed in any case.
        sizes_put: How many sizes it puts into a row of the queue.
        columns: Name of each argument of `Group.sink` after the row; several arrays may share a
            column.
        constants: Counts of the rows that never change.
        aliases: Pairs of a row and an earlier one that has the same elements.
        packs: Rows of small tensors that are looked at together, as they have one shape.
        large: Rows of large tensors, and of small ones that are looked at alone.
        covers: For some rows, a later one that is bad wherever they are.
        seen: The rows in each tensor that the graph looks at: one, those of a pack, or several that
            it has joined.
        extra_rows: The inputs from outside of the group of its ops, where these are detailed: rows
            beyond `rows`.  A bad one was an alert where it was made; here only the healthy add
            something, and what filters left out there.
        inputs: For each row, which rows its details include besides itself.
        makers: What makes rows NaN all over.
        places: Which argument of `Group.detail` has the elements of a row, and where in the pack.
        products: The rows that are computed again where their elements are asked for.
        handed_over: How each argument of `Group.detail` is handed over where its elements are; see
            `elements`.
        sent: How the arguments of `Group.detail` are sent to the host; None where they are there.
        settled: Its settled patterns; None where the graph cannot know them.
        exact_limit: Size beyond which a tensor is detailed even when it is healthy.
        caller: The device that the graph runs on, where that is another process's; "" for here.
    """

    rows: list[Row]
    mode: TensorDebugMode
    iterated: bool
    measured: bool
    adaptive: bool
    dump_mode: TensorDebugMode
    first_only: bool = False
    overwritten: bool = False
    sizes_put: int = 0
    columns: tuple[str, ...] = ()
    constants: dict[int, HealthCounts] = field(default_factory=dict)
    aliases: list[tuple[int, int]] = field(default_factory=list)
    packs: list[list[int]] = field(default_factory=list)
    large: list[int] = field(default_factory=list)
    covers: dict[int, int] = field(default_factory=dict)
    seen: list[list[int]] = field(default_factory=list)
    extra_rows: list[Row] = field(default_factory=list)
    inputs: dict[int, tuple[int, ...]] = field(default_factory=dict)
    makers: dict[int, Makers] = field(default_factory=dict)
    places: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    products: dict[int, Product] = field(default_factory=dict)
    handed_over: tuple[HandedOver, ...] = ()
    sent: SentTensors | None = None
    settled: SettledPatterns | None = None
    exact_limit: int | None = None
    caller: str = ""

    @property
    def among_whole_tensors(self) -> bool:
        """Whether the trace file takes payloads, not framed records.

        These are whole tensors, and the counts of what XLA compiled, where these cannot leave.
        """
        return self.dump_mode is TensorDebugMode.FULL_TENSOR

    @property
    def graph_id(self) -> str:
        """The graph that it is of."""
        return self.rows[0].graph_id

    @property
    def all_rows(self) -> list[Row]:
        """The tensors, and those that are detailed along with them."""
        return [*self.rows, *self.extra_rows]

    def rows_put(self, key: int) -> int:
        """Return how many rows of the queue an execution takes, by the key in the first."""
        if key == queue_rows.COUNTED:
            return len(self.counted)
        return queue_rows.rows_for(self.sizes_put)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The rows whose counts stand in the queue where something is bad that tells nothing new.

        In FULL_HEALTH that would not tell all.
        """
        is_full = self.mode is TensorDebugMode.FULL_HEALTH
        return () if is_full else tuple(sorted(self.places))

    @cached_property
    def rows_of_arguments(self) -> list[int]:
        """The rows that an argument of `Group.detail` has the elements of."""
        return [row for row in self.places if row < len(self.rows)]

    @cached_property
    def unknown(self) -> list[int]:
        """The rows of which no other tells the counts, and which may change."""
        known = {*self.constants, *(row for row, _ in self.aliases)}
        return [row for row in range(len(self.rows)) if row not in known]

    @cached_property
    def looks(self) -> dict[int, int]:
        """By the look at which of `seen` the graph sees that a row may be bad."""
        looks = {row: index for index, rows in enumerate(self.seen) for row in rows}
        # The tensor that covers another comes later.
        for row in sorted(self.covers, reverse=True):
            looks[row] = looks[self.covers[row]]
        return looks

    @cached_property
    def rows_of_healthy(self) -> queue_rows.Rows:
        """The rows in the queue of an execution that is `COUNTED`, were nothing in it bad."""
        rows = np.zeros((len(self.counted), queue_rows.WIDTH), np.int64)
        rows[:, queue_rows.PART] = range(len(rows))
        rows[0, queue_rows.KEY] = queue_rows.COUNTED
        known = self.all_rows
        rows[:, queue_rows.SIZES] = [known[row].size or 0 for row in self.counted]
        return rows

    @cached_property
    def unsized(self) -> list[int]:
        """The rows whose sizes are not known while tracing."""
        return [row for row in self.large if self.rows[row].size is None]

    @property
    def run_in_no_order(self) -> bool:
        """Whether its values may come before those of earlier tensors: in a session."""
        return "serial" in self.columns

    @cached_property
    def has_bad_constants(self) -> bool:
        """Whether a healthy execution may have something to tell: constants that are bad."""
        return self.adaptive and any(counts.bad for counts in self.constants.values())
