"""What other replicas of one process put into a collective op: of each, all are inputs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.collectives import family_of
from tfdbg_tui.diagnosis.op_traits import value_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow.timeline import Timeline
    from tfdbg_tui.logdir import GraphOp, Run, TensorRef


class Replicas:
    """Finds the ops by which the replicas of a graph take part in one collective.

    A strategy makes them in a loop over its devices, by the same line, and each replica runs
    its collectives in the same order: the n-th of a device belongs with the n-th of any other.

    Args:
        run: The run.
        timeline: Which op is on which device.
    """

    def __init__(self, run: Run, timeline: Timeline) -> None:
        self._run = run
        self._timeline = timeline
        self._of_line = cache(self._find)

    def inputs(self, op: GraphOp) -> Iterator[tuple[int, TensorRef]]:
        """Yield the values that the ops of the other replicas take, with their input slots."""
        family = family_of(op.op_type)
        if family is None:
            return
        of_line = self._of_line(op.graph_id, op.stack_id, family)
        places = [ops.index(op) for ops in of_line if op in ops]
        for ops in of_line:
            other = ops[places[0]] if places and op not in ops and places[0] < len(ops) else None
            if other is not None:
                for slot in value_inputs(other.op_type, len(other.inputs)):
                    yield slot, other.inputs[slot]

    def _find(self, graph_id: str, stack_id: int, family: str) -> list[list[GraphOp]]:
        """Return the collective ops that a line made in a graph, those of each device by itself."""
        found: dict[str, list[GraphOp]] = {}
        for op in list(self._run.graphs[graph_id].ops.values()):
            if op.stack_id == stack_id and family_of(op.op_type) == family:
                for device in {site.device for site, _ in self._timeline.sites(graph_id, op.name)}:
                    found.setdefault(device, []).append(op)
        return list(found.values())
