"""Which run of a function a tensor belongs to, where one execution runs the function repeatedly.

This project's writer has the calls in a graph that may run the same function wait for each other,
and records the tensors of one run together: so the runs on record are in the order of the calls.
TensorFlow's writer records no calls.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.dataflow.calls import CALLS

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow.calls import Calls, CallSite
    from tfdbg_tui.logdir import GraphOp, Run

_MOST_PATHS = 64  # calls of one function in one run of the graph around them
_DEEPEST = 16
_BLOCK = 512  # rows: how far from each other tensors of one run are looked for
_TRIED = 12  # sites of a block: ADAPTIVE leaves some tensors of a run out

Path = tuple[tuple[str, str], ...]
"""Call ops, by graph and name, from a frame to a function."""


class RunNumber(NamedTuple):
    """Which run of a graph, in one execution.

    Attributes:
        place: How many came before it, in that execution.
        total: How many there are; None where that is not known.
    """

    place: int
    total: int | None


class Frame(NamedTuple):
    """Where a function is called.

    Attributes:
        graph_id: The graph that all calls of it go back to: one that Python calls, the body of a
            loop, a branch.
        paths: The ways from there to the function, in the order in which they are run.
    """

    graph_id: str
    paths: tuple[Path, ...]


class CallOrder:
    """The order in which the runs of functions follow from the calls in graphs."""

    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._calls = calls
        self._places: dict[str, dict[str, int]] = {}

    def frame(self, graph_id: str) -> Frame | None:
        """Return where a graph is called; None where that does not tell the order of its runs."""
        return self._frames.get(graph_id)

    def is_repeated(self, graph_id: str) -> bool:
        """Whether one run of the graph around it runs a graph more than once."""
        frame = self.frame(graph_id)
        return frame is not None and len(frame.paths) > 1

    def entered(self, number: RunNumber, op: GraphOp, callee: str) -> RunNumber | None:
        """Return which run of a function a call is, of those of the graph with the call.

        Args:
            number: Which run of the graph with the call.
            op: The call.
            callee: The graph that it calls.
        """
        outer, inner = self.frame(op.graph_id), self.frame(callee)
        if outer is None or inner is None or outer.graph_id != inner.graph_id:
            return None
        run, place = divmod(number.place, len(outer.paths))
        path = (*outer.paths[place], (op.graph_id, op.name))
        if path not in inner.paths:
            return None
        return _renumbered(number, run, outer, inner, inner.paths.index(path))

    def left(self, number: RunNumber, graph_id: str) -> tuple[GraphOp, RunNumber] | None:
        """Return the call that a run of a function is, and the run of the graph with the call."""
        inner = self.frame(graph_id)
        if inner is None or not inner.paths[0]:
            return None
        run, place = divmod(number.place, len(inner.paths))
        path = inner.paths[place]
        op = self._run.op(*path[-1])
        outer = self.frame(path[-1][0])
        if op is None or outer is None or path[:-1] not in outer.paths:
            return None
        return op, _renumbered(number, run, inner, outer, outer.paths.index(path[:-1]))

    @cached_property
    def _frames(self) -> dict[str, Frame | None]:
        """The frame of each graph; callers come first, graphs that call themselves have none."""
        sites = {graph_id: self._calls.call_sites(graph_id) for graph_id in list(self._run.graphs)}
        callers = {graph_id: {site.caller_id for site in its} for graph_id, its in sites.items()}
        sorter = TopologicalSorter(callers)
        with suppress(CycleError):
            sorter.prepare()
        frames: dict[str, Frame | None] = {}
        while sorter.is_active():
            for graph_id in sorter.get_ready():
                frames[graph_id] = self._find_frame(graph_id, sites[graph_id], frames)
                sorter.done(graph_id)
        return frames

    def _find_frame(
        self, graph_id: str, sites: list[CallSite], frames: dict[str, Frame | None]
    ) -> Frame | None:
        """Return the frame of a graph, given those of its callers."""
        ops = [site.op for site in sites if site.op is not None and site.op.op_type in CALLS]
        if not sites or len(ops) < len(sites):
            return Frame(graph_id, ((),)) if len(sites) < 2 else None
        if len(ops) > _MOST_PATHS:
            return None
        outer = [frames[op.graph_id] for op in ops]
        roots = {frame.graph_id if frame else None for frame in outer}
        root = roots.pop()
        if root is None or roots:
            return None
        paths = [
            (*path, (op.graph_id, op.name))
            for op, frame in zip(ops, outer, strict=True)
            if frame is not None
            for path in frame.paths
        ]
        if len(paths) > _MOST_PATHS or max(map(len, paths)) > _DEEPEST:
            return None
        return Frame(root, tuple(sorted(paths, key=self._order)))

    def _order(self, path: Path) -> list[int]:
        """Return a key by which paths sort in the order in which they are run."""
        return [self._places_in(graph_id)[op_name] for graph_id, op_name in path]

    def _places_in(self, graph_id: str) -> dict[str, int]:
        """Return the place of each op among those of its graph, in order of creation."""
        if graph_id not in self._places:
            names = list(self._run.graphs[graph_id].ops)
            self._places[graph_id] = {name: place for place, name in enumerate(names)}
        return self._places[graph_id]


def _renumbered(number: RunNumber, run: int, old: Frame, new: Frame, place: int) -> RunNumber:
    total = number.total
    frames = None if total is None else total // len(old.paths) * len(new.paths)
    return RunNumber(run * len(new.paths) + place, frames)


def block_of(run: Run, row: int) -> tuple[int, int]:
    """Return the rows (from, to) around one that were recorded together with it."""
    traces = run.graph_executions
    low, high = max(0, row - _BLOCK), min(len(traces), row + _BLOCK)
    times = traces.wall_times(np.arange(low, high))
    other = np.flatnonzero(times != times[row - low]) + low
    before, after = other[other < row], other[other > row]
    start = int(before[-1]) + 1 if before.size else low
    return start, int(after[0]) if after.size else high


def sites_of_block(run: Run, row: int) -> list[tuple[int, int]]:
    """Return (site, row) of some tensors that were recorded together with that of a row."""
    start, stop = block_of(run, row)
    sites = run.graph_executions.site_ids
    rows = {row, *np.linspace(start, stop - 1, _TRIED).astype(int).tolist()}
    return [(sites[other], other) for other in sorted(rows)]
