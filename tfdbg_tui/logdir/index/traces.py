"""The graph executions of a run: an index of them in memory, their records in the file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.events import GraphExecution, Site, TensorSummary
from tfdbg_tui.logdir.files.wall_times import sane_time
from tfdbg_tui.logdir.index.alert_log import AlertTally, combined
from tfdbg_tui.logdir.index.columns import Column, Int64Array
from tfdbg_tui.logdir.index.event_list import EventList
from tfdbg_tui.logdir.index.magnitudes import Magnitudes, joined
from tfdbg_tui.logdir.index.record_log import RecordLog, is_worth_scanning
from tfdbg_tui.logdir.scan.health_scan import largest_magnitudes
from tfdbg_tui.logdir.scan.scanned_traces import ScannedTraces
from tfdbg_tui.logdir.scan.trace_numbers import COUNTS, NUMBERS, Numbers, read_numbers
from tfdbg_tui.logdir.scan.trace_scan import TraceScan
from tfdbg_tui.logdir.values.bad_kinds import kinds_of
from tfdbg_tui.logdir.values.summaries import largest_of_whole, tensor_summary
from tfdbg_tui.logdir.values.tensors import recorded_tensor
from tfdbg_tui.wire import codec, events
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfdbg_tui.logdir.definitions.definitions import Definitions
    from tfdbg_tui.logdir.definitions.graphs import Graph
    from tfdbg_tui.logdir.definitions.numbering import Numbering
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile
    from tfdbg_tui.logdir.index.executions import Executions
    from tfdbg_tui.logdir.index.merge import Merge


@dataclass(frozen=True, slots=True)
class _Decoded:
    """What the index holds of one graph execution."""

    site: int
    bad: int  # the kinds of its bad elements
    serial: int
    largest: float


class TraceLog(RecordLog):
    """The index of one .graph_execution_traces file; its alerts are by site.

    Attributes:
        sites: Number of each record's `Site` in the run.

    Args:
        file: The file.
        definitions: What its records refer to.
        sites: Where sites are numbered, for the whole run.
        problems: Where problems are reported.
        vectorised: Whether many records are read at once, rather than one by one.
    """

    def __init__(
        self,
        file: RecordFile,
        definitions: Definitions,
        sites: Numbering[Site],
        problems: Problems,
        *,
        vectorised: bool = True,
    ) -> None:
        super().__init__(file, definitions, problems)
        self.sites = Column()
        self._sites = sites
        self._scan = TraceScan() if vectorised else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """See `RecordLog`."""
        return (self.sites,)

    def ingest(self, chunk: Chunk) -> None:
        """See `RecordLog`."""
        found = ScannedTraces(len(chunk))
        if self._scan is not None and is_worth_scanning(chunk):
            found = self._scan.scan(chunk, lambda row: self._site_of(chunk, row))
        for row in np.flatnonzero(found.sites < 0).tolist():
            decoded = self._decode(chunk, row)
            if decoded is not None:
                found.sites[row], found.bad[row] = decoded.site, decoded.bad
                found.serials[row], found.largest[row] = decoded.serial, decoded.largest
        self._append(chunk, found)

    def _append(self, chunk: Chunk, found: ScannedTraces) -> None:
        readable = found.sites >= 0
        before, sites, largest = len(self.offsets), found.sites[readable], found.largest[readable]
        alerts = np.flatnonzero(found.bad[readable])
        self.alerts.extend(alerts + before, sites[alerts], found.bad[readable][alerts])
        measured = np.flatnonzero(np.isfinite(largest))
        self.magnitudes.extend(
            measured + before, largest[measured], serials=found.serials[readable][measured]
        )
        self.offsets.extend(chunk.offsets[readable])
        self.sites.extend(sites)

    def _site_of(self, chunk: Chunk, row: int) -> int | None:
        """Return the site of a record to judge others by; None if it is not to be trusted."""
        decoded = self._decode(chunk, row, report=False)
        return decoded.site if decoded else None

    def _decode(self, chunk: Chunk, row: int, *, report: bool = True) -> _Decoded | None:
        """Read one record; None, and a problem, where it is not readable."""
        try:
            event = events.DebugEvent.decode(chunk.payload(row))
            if not event.graph_execution_trace:
                raise codec.DecodeError("no graph execution trace in it")
            record = events.GraphExecutionTrace.decode(event.graph_execution_trace)
            summary = trace_summary(record)
        except codec.DecodeError as error:
            if report:
                self._skip(chunk, row, error)
            return None
        site = Site(
            self.definitions.file_set,
            self.definitions.graph_id(record.tfdbg_context_id),
            record.op_name,
            record.output_slot,
            record.tensor_debug_mode,
            record.device_name,
        )
        return _Decoded(
            site=self._sites.number(site),
            bad=kinds_of(summary),
            serial=record.execution_serial or 0,
            largest=_largest(record, summary),
        )


def _numbers_of(trace: GraphExecution) -> dict[str, float | None]:
    """Return what a trace that was read alone says in numbers."""
    names = (*COUNTS, "minimum", "maximum")
    told = {name: getattr(trace.summary, name, None) for name in names}
    return {"step": trace.step, "execution": trace.execution_index, **told}


def trace_summary(record: events.GraphExecutionTrace) -> TensorSummary | None:
    """Return what a trace says of its tensor's values."""
    return tensor_summary(
        record.tensor_debug_mode,
        record.tensor_proto,
        _extreme(record.minimum_bits),
        _extreme(record.maximum_bits),
        record.bad_elements,
    )


def _largest(record: events.GraphExecutionTrace, summary: TensorSummary | None) -> float:
    """Return the largest magnitude that a trace tells; NaN where it tells none."""
    if record.tensor_debug_mode == TensorDebugMode.FULL_TENSOR:
        return largest_of_whole(summary)
    extremes = _number(record.minimum_bits), _number(record.maximum_bits)
    return float(largest_magnitudes(*extremes))


def _extreme(bits: int | None) -> float | None:
    value = _number(bits)
    return None if math.isnan(value) else value


def _number(bits: int | None) -> float:
    """Return the number with some bits: NaN where it is not known."""
    return codec.to_double(bits) if bits is not None else math.nan


class GraphExecutions(EventList[GraphExecution]):
    """The graph executions of a run, in order: ``[i]`` reads the i-th from its file.

    Attributes:
        site_ids: Number of each graph execution's site; see `site`.

    Args:
        logs: The index of each file.
        sites: The sites that the logs number.
        graphs: The graphs of the run, by id.
        executions: The executions of the run, which cause these.
        merge: The order of several files; None for one alone.
    """

    def __init__(
        self,
        logs: Sequence[TraceLog],
        sites: Numbering[Site],
        graphs: Mapping[str, Graph],
        executions: Executions,
        merge: Merge | None,
    ) -> None:
        super().__init__(logs, merge)
        (self.site_ids,) = self._columns
        self._sites = sites.values
        self._num_sites = len(sites.values)
        self._graphs = graphs
        self._executions = executions
        self._magnitudes = [(log.sites.view(), log.magnitudes.view()) for log in logs]

    def _decoded(self, index: int, log: int, event: events.DebugEvent) -> GraphExecution:
        record = events.GraphExecutionTrace.decode(event.graph_execution_trace)
        definitions = self._definitions[log]
        graph_id = definitions.graph_id(record.tfdbg_context_id)
        return GraphExecution(
            index=index,
            wall_time=sane_time(event.wall_time),
            step=event.step,
            site_id=self.site_ids[index],
            graph_id=graph_id,
            op_name=record.op_name,
            op_type=self._op_type(graph_id, record.op_name),
            output_slot=record.output_slot,
            mode=record.tensor_debug_mode,
            summary=trace_summary(record),
            device=record.device_name,
            host=definitions.host,
            execution_index=self._executions.with_serial(log, record.execution_serial or 0),
            iteration=record.iteration,
        )

    def _unreadable(self, index: int, reason: str) -> GraphExecution:
        site = self.site(index)
        return GraphExecution(
            index=index,
            wall_time=0.0,
            step=None,
            site_id=self.site_ids[index],
            graph_id=site.graph_id,
            op_name=site.op_name,
            op_type=self._op_type(site.graph_id, site.op_name),
            output_slot=site.output_slot,
            mode=site.mode,
            summary=None,
            device=site.device,
            host=self._definitions[site.file_set].host,
            unreadable=reason,
        )

    def tensor(self, index: int) -> npt.NDArray[Any] | None:
        """Read the tensor itself; None in all modes but FULL_TENSOR, and for types without numpy's.

        Raises:
            IndexError: There is no such row.
            UnreadableError: The record cannot be read.
        """
        with self._reading(index) as (_, event):
            record = events.GraphExecutionTrace.decode(event.graph_execution_trace)
            return recorded_tensor(record.tensor_debug_mode, record.tensor_proto)

    def _op_type(self, graph_id: str, op_name: str) -> str | None:
        graph = self._graphs.get(graph_id)
        op = graph.ops.get(op_name) if graph else None
        return op.op_type if op else None

    def numbers(self, indices: Int64Array) -> Numbers:
        """Read what the records of many events say in numbers, a hundred times as fast as each.

        Returns:
            By name, as in `TensorSummary`, an array with a number of each event, NaN where it is
            not on record; besides these ``step``, and ``execution``: the index of what caused it.
        """
        names = ("execution", *NUMBERS)
        numbers = {name: np.full(len(indices), np.nan) for name in names if name != "serial"}
        for log, places, rows in self._rows.split(indices):
            found, known = self._read_numbers(log, rows)
            serials = np.nan_to_num(found.pop("serial")).astype(np.int64)
            executions = self._executions.with_serials(log, serials & 0xFFFFFFFF)
            found["execution"] = np.where(executions >= 0, executions, np.nan)
            for name, values in found.items():
                numbers[name][places] = values
            for place in places[~known].tolist():
                for name, number in _numbers_of(self[int(indices[place])]).items():
                    numbers[name][place] = np.nan if number is None else number
        return numbers

    def _read_numbers(self, log: int, rows: Int64Array) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        try:
            return read_numbers(self._files[log], self._offsets[log].take(rows))
        except OSError:  # what can be read alone is
            unknown = {name: np.full(len(rows), np.nan) for name in NUMBERS}
            return unknown, np.zeros(len(rows), bool)

    @property
    def num_sites(self) -> int:
        """How many distinct sites there are so far."""
        return self._num_sites

    def site(self, index: int) -> Site:
        """Return graph, op, slot and device of a row without reading its record."""
        return self._sites[self.site_ids[index]]

    def site_by_id(self, site_id: int) -> Site:
        """Return the site with a number found in `site_ids`."""
        return self._sites[site_id]

    @property
    def num_measured(self) -> int:
        """Number of rows whose largest magnitude is on record."""
        return sum(len(found.rows) for _, found in self._magnitudes)

    def magnitudes(self, site_ids: Sequence[int] | None = None) -> Magnitudes:
        """Return the largest magnitudes on record, of some sites or of all."""
        parts = []
        for log, (sites, found) in enumerate(self._magnitudes):
            rows = found.rows[:]
            mine = sites.take(rows)
            some = (
                np.arange(len(rows)) if site_ids is None else np.isin(mine, site_ids).nonzero()[0]
            )
            parts.append(
                Magnitudes(
                    rows=self._rows.indices(log, rows[some]),
                    places=mine[some],
                    executions=self._executions.with_serials(log, found.serials.take(some)),
                    largest=found.largest(some),
                )
            )
        return joined(parts)

    def rows_of(self, site_id: int) -> Int64Array:
        """Return all rows that are computations of one site, ascending."""
        return self.site_ids.rows_equal(site_id)

    def last_before(self, site_id: int, index: int) -> int | None:
        """Return the last row before `index` that is a computation of a site, or None."""
        return self.site_ids.last_equal(site_id, index)

    def alert_sites(self) -> Iterator[tuple[int, AlertTally]]:
        """Yield the number of each site that has alerts, and their number, first and last row."""
        yield from combined(self.alert_logs, self._rows.index)
