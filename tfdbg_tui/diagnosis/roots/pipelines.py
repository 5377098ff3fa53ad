"""What goes out of the functions of a pipeline of data: it is looked at where it is taken."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.elements import Fate
from tfdbg_tui.diagnosis.events import graph_id_of, graph_op_of
from tfdbg_tui.diagnosis.op_traits import DATASET_ELEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.dataflow.elements import Elements
    from tfdbg_tui.diagnosis.dataflow.unrecorded import UnrecordedLinks
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import AlertSite


class Pipelines:
    """Tells what goes out of the functions of pipelines.

    Args:
        dataflow: Where tensors come from and go to.
        unrecorded: What is known of links that are not on record.
        elements: What becomes of the elements of datasets.
    """

    def __init__(self, dataflow: Dataflow, unrecorded: UnrecordedLinks, elements: Elements) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._unrecorded = unrecorded
        self._elements = elements
        self._bad_arguments: dict[str, int] = {}

    def note_arguments(self, sites: Iterable[AlertSite]) -> None:
        """Note the bad arguments of pipelines' functions: the last row of each function's.

        Args:
            sites: All places that are bad.
        """
        for site in sites:
            graph_id = graph_id_of(self._run, site.last)
            if graph_id is not None and self._unrecorded.is_element(site.last):
                before = self._bad_arguments.get(graph_id, -1)
                self._bad_arguments[graph_id] = max(before, site.last.index)

    def leaves(self, event: TensorEvent, uses: tuple[Use, ...]) -> bool:
        """Whether a tensor only goes out of a pipeline's function, to where it is on record.

        That is where another function or the program takes it; what is saved, kept in a file or
        counted is taken by nothing that is on record.
        """
        op = graph_op_of(self._run, event)
        if op is None or not self._dataflow.calls.in_pipeline(op.graph_id):
            return False
        uses = tuple(use for use in uses if use.via != "argument")
        if not uses or not all(use.op_type == "Identity" and use.event is None for use in uses):
            return False
        fate = self._fate(op.graph_id, [use.name for use in uses])
        if fate is not None:
            return fate in (Fate.TAKEN, Fate.LEFT)
        return self._elements_are_taken or any(
            graph_id != op.graph_id and row > event.index
            for graph_id, row in self._bad_arguments.items()
        )

    def _fate(self, graph_id: str, names: list[str]) -> Fate | None:
        """Return what becomes of outputs of a pipeline's function, or of graphs that it calls."""
        calls = self._dataflow.calls
        outermost = calls.outermost(graph_id)
        given = [ref.op_name for ref in calls.outputs(outermost)]
        slots = [given.index(name) if name in given else None for name in names]
        if outermost != graph_id or len(slots) > 1:
            slots = [None]
        return self._elements.fate(outermost, slots[0])

    @cached_property
    def _elements_are_taken(self) -> bool:
        """Whether the program takes elements of datasets by an op that is on record."""
        run, timeline = self._run, self._dataflow.timeline
        if any(kind.op_type in DATASET_ELEMENTS for kind in run.executions.distinct_kinds):
            return True
        return any(
            op.op_type in DATASET_ELEMENTS and timeline.sites(graph_id, op.name)
            for graph_id, graph in run.graphs.items()
            for op in graph.ops.values()
        )
