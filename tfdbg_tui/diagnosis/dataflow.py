"""From a tensor to the tensors it was computed from, and to those computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run, Site, TensorRef

_WINDOW = 4096


@dataclass(frozen=True, slots=True)
class Producer:
    """An input of an event and where it comes from.

    Attributes:
        input_slot: Position among the inputs of the op.
        name: The tensor's name: ``op_name:slot`` in a graph, ``op_type:slot`` outside.
        event: The event that made it; None where none is recorded.
        inferred: Whether the link is a conclusion rather than something recorded.
        via: How the value got there: "graph", "argument", "call", "eager", "variable", ...
    """

    input_slot: int
    name: str
    event: TensorEvent | None
    inferred: bool
    via: str


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a tensor.

    Attributes:
        input_slot: Which input of the consuming op it is.
        name: Name of the consuming op (in a graph) or its type (outside).
        event: The first output that the consumer made of it; None where none is recorded.
        inferred: Whether the link is a conclusion rather than something recorded.
        via: As in `Producer`.
    """

    input_slot: int
    name: str
    event: TensorEvent | None
    inferred: bool
    via: str


class Dataflow:
    """Answers where the tensors of a run come from and go to; keeps what it has found out."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._sites: dict[tuple[str, str], list[tuple[Site, int]]] = {}
        for site, site_id in list(run.site_numbers.items()):
            self._sites.setdefault((site.graph_id, site.op_name), []).append((site, site_id))

    def producers(self, event: TensorEvent) -> tuple[Producer, ...]:
        """Return the inputs of the op that made a tensor, in order."""
        op = graph_op_of(self._run, event)
        if op is None:
            return ()
        device = self._run.graph_executions.site(event.index).device
        return tuple(
            Producer(
                slot, str(ref), self._last(op.graph_id, ref, device, event.index), False, "graph"
            )
            for slot, ref in enumerate(op.inputs)
        )

    def consumers(self, event: TensorEvent) -> tuple[Use, ...]:
        """Return the uses of a tensor."""
        op = graph_op_of(self._run, event)
        if op is None:
            return ()
        device = self._run.graph_executions.site(event.index).device
        graph = self._run.graphs[op.graph_id]
        return tuple(
            Use(
                use.input_slot,
                use.op_name,
                self._next(op.graph_id, use.op_name, device, event.index),
                False,
                "graph",
            )
            for use in graph.consumers(op.name)
            if use.slot == event.slot
        )

    def _last(self, graph_id: str, ref: TensorRef, device: str, before: int) -> TensorEvent | None:
        """Return a graph tensor's last computation before a row, on the same device first."""
        rows: list[tuple[bool, int]] = []
        for site, site_id in self._sites.get((graph_id, ref.op_name), ()):
            if site.output_slot == ref.slot:
                row = self._run.graph_executions.last_before(site_id, before)
                if row is not None:
                    rows.append((site.device == device, row))
        return TensorEvent("graph_execution", max(rows)[1], ref.slot) if rows else None

    def _next(self, graph_id: str, op_name: str, device: str, after: int) -> TensorEvent | None:
        """Return the first tensor that an op makes after a row, on the same device first."""
        rows: list[tuple[bool, int, int]] = []
        for site, site_id in self._sites.get((graph_id, op_name), ()):
            row = self._first_after(site_id, after)
            if row is not None:
                rows.append((site.device != device, row, site.output_slot))
        if not rows:
            return None
        _, row, slot = min(rows)
        return TensorEvent("graph_execution", row, slot)

    def _first_after(self, site_id: int, index: int) -> int | None:
        column = self._run.graph_executions.site_ids
        start, window = index + 1, _WINDOW
        while start < len(column):
            rows = column.rows_equal(site_id, start, start + window)
            if rows.size:
                return int(rows[0])
            start, window = start + window, window * 8
        return None
