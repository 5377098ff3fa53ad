"""The graph executions of a run: an index of them in memory, their records in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.columns import Column, ColumnView, Int64Array, OffsetColumn
from tfdbg_tui.logdir.events import GraphExecution, Problem, Site, TensorSummary
from tfdbg_tui.logdir.executions import _wall_time
from tfdbg_tui.logdir.summaries import tensor_summary
from tfdbg_tui.wire import codec, events, tfrecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir.definitions import Definitions
    from tfdbg_tui.logdir.graphs import Graph
    from tfdbg_tui.logdir.recordfile import Chunk, RecordFile


class TraceLog:
    """The index of one .graph_execution_traces file, grown chunk by chunk.

    Attributes:
        offsets: Where each record starts.
        sites: Number of each record's `Site` in the run.
        alerts: Rows that hold a NaN or an infinity.
    """

    def __init__(self, file_set: int, sites: dict[Site, int], problems: list[Problem]) -> None:
        self.offsets = OffsetColumn()
        self.sites = Column(np.uint32)
        self.alerts: list[int] = []
        self._file_set = file_set
        self._sites = sites
        self._problems = problems

    def ingest(self, file: RecordFile, chunk: Chunk) -> None:
        """Index the records of a chunk."""
        offsets: list[int] = []
        sites: list[int] = []
        for start, end in zip(chunk.offsets, chunk.ends, strict=True):
            payload = chunk.data[start + tfrecord.HEADER_SIZE : end - tfrecord.FOOTER_SIZE]
            try:
                event = events.DebugEvent.decode(payload)
                record = events.GraphExecutionTrace.decode(event.graph_execution_trace)
                summary = trace_summary(record)
            except codec.DecodeError as error:
                where = f"{file.path}: record at byte {chunk.base + start:,}"
                message = f"{where} is not readable ({error}); it is skipped"
                self._problems.append(Problem(file.path, message))
                continue
            if summary is not None and summary.bad:
                self.alerts.append(len(self.offsets) + len(offsets))
            offsets.append(chunk.base + start)
            sites.append(self._site(record))
        self.offsets.extend(np.array(offsets, np.int64))
        self.sites.extend(np.array(sites, np.uint32))

    def _site(self, record: events.GraphExecutionTrace) -> int:
        site = Site(
            self._file_set,
            record.tfdbg_context_id,
            record.op_name,
            record.output_slot,
            record.tensor_debug_mode,
            record.device_name,
        )
        return self._sites.setdefault(site, len(self._sites))


def trace_summary(record: events.GraphExecutionTrace) -> TensorSummary | None:
    """Return what a trace says of its tensor's values."""
    low, high = record.minimum_bits, record.maximum_bits
    return tensor_summary(
        record.tensor_debug_mode,
        record.tensor_proto,
        codec.to_double(low) if low is not None else None,
        codec.to_double(high) if high is not None else None,
    )


class GraphExecutions:
    """The graph executions of a run, in order: ``[i]`` reads the i-th from its file.

    Attributes:
        site_ids: Number of each row's site; see `site`.
        alert_rows: Rows that hold a NaN or an infinity, ascending.
    """

    def __init__(
        self,
        file: RecordFile,
        log: TraceLog,
        sites: list[Site],
        graphs: dict[str, Graph],
        definitions: Definitions,
        serials: dict[int, int],
    ) -> None:
        self._file = file
        self._offsets = log.offsets.view()
        self._sites = sites
        self._graphs = graphs
        self._definitions = definitions
        self._serials = serials
        self.site_ids: ColumnView = log.sites.view()
        self.alert_rows: Int64Array = np.array(log.alerts, np.int64)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[GraphExecution]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> GraphExecution:
        """Read a graph execution from its file.

        Raises:
            IndexError: There is no such row.
            OSError: The file cannot be read any more.
            ValueError: The record is, or has become, damaged.
        """
        event = events.DebugEvent.decode(self._file.record(self._offsets[index]))
        record = events.GraphExecutionTrace.decode(event.graph_execution_trace)
        serial = record.execution_serial
        return GraphExecution(
            index=index % len(self),
            wall_time=event.wall_time,
            step=event.step,
            site_id=self.site_ids[index],
            graph_id=record.tfdbg_context_id,
            op_name=record.op_name,
            op_type=self._op_type(record.tfdbg_context_id, record.op_name),
            output_slot=record.output_slot,
            mode=record.tensor_debug_mode,
            summary=trace_summary(record),
            device=record.device_name,
            host=self._definitions.host,
            execution_index=self._serials.get(serial) if serial is not None else None,
            iteration=record.iteration,
        )

    def _op_type(self, graph_id: str, op_name: str) -> str | None:
        graph = self._graphs.get(graph_id)
        op = graph.ops.get(op_name) if graph else None
        return op.op_type if op else None

    @property
    def num_sites(self) -> int:
        """How many distinct sites there are so far."""
        return len(self._sites)

    def site(self, index: int) -> Site:
        """Return graph, op, slot and device of a row without reading its record."""
        return self._sites[self.site_ids[index]]

    def site_by_id(self, site_id: int) -> Site:
        """Return the site with a number found in `site_ids`."""
        return self._sites[site_id]

    def rows_of(self, site_id: int) -> Int64Array:
        """Return all rows that are computations of one site, ascending."""
        return self.site_ids.rows_equal(site_id)

    def last_before(self, site_id: int, index: int) -> int | None:
        """Return the last row before `index` that is a computation of a site, or None."""
        return self.site_ids.last_equal(site_id, index)

    def wall_times(self, indices: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when each of some rows was recorded, in seconds since the epoch."""
        offsets = self._offsets.take(indices)
        return np.array([_wall_time(self._file, int(o)) for o in offsets], np.float64)
