"""The index of the executions of one file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.events import ExecutionKind, TensorSummary
from tfdbg_tui.logdir.index.columns import Column, Int64Array
from tfdbg_tui.logdir.index.output_place import OutputPlace
from tfdbg_tui.logdir.index.record_log import RecordLog, is_worth_scanning
from tfdbg_tui.logdir.scan.execution_scan import ExecutionScan, ScannedExecutions
from tfdbg_tui.logdir.scan.health_scan import largest_magnitudes
from tfdbg_tui.logdir.values.bad_kinds import kinds_of
from tfdbg_tui.logdir.values.output_slots import outputs_by_slot
from tfdbg_tui.logdir.values.summaries import largest_of_whole
from tfdbg_tui.wire import codec, events
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir.definitions.definitions import Definitions, Stacks
    from tfdbg_tui.logdir.definitions.numbering import Numbering
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile


@dataclass(frozen=True, slots=True)
class _Decoded:
    """What the index holds of one execution."""

    kind: int
    stack: int
    step: int
    serial: int
    bad: tuple[tuple[int, int], ...]  # slot, and the kinds of its bad elements
    largest: tuple[tuple[int, float], ...]


class ExecutionLog(RecordLog):
    """The index of one .execution file; its alerts are by `OutputPlace`.

    Attributes:
        kinds: Number of each execution's `ExecutionKind` in the run.
        stacks: Number of each execution's stack in the run.
        steps: Training step of each execution, plus 1; 0 where it has none.
        serials: Serial of each execution; empty where the writer records none.

    Args:
        file: The file.
        definitions: What its records refer to.
        kinds: Where kinds are numbered, for the whole run.
        stacks: Where stack traces are numbered, for the whole run.
        problems: Where problems are reported.
        vectorised: Whether many records are read at once, rather than one by one.
    """

    def __init__(
        self,
        file: RecordFile,
        definitions: Definitions,
        kinds: Numbering[ExecutionKind],
        stacks: Stacks,
        problems: Problems,
        *,
        vectorised: bool = True,
    ) -> None:
        super().__init__(file, definitions, problems)
        self.kinds = Column()
        self.stacks = Column()
        self.steps = Column()
        self.serials = Column()
        self._kinds = kinds
        self._stacks = stacks
        self._scan = ExecutionScan() if vectorised else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """See `RecordLog`."""
        return self.kinds, self.stacks, self.steps

    def ingest(self, chunk: Chunk) -> None:
        """See `RecordLog`."""
        found = ScannedExecutions(len(chunk))
        if self._scan is not None and is_worth_scanning(chunk):
            found = self._scan.scan(
                chunk, lambda row: self._kind_of(chunk, row), self._number_stack
            )
            self._leave_shifted_slots(found)
        self._decode_unknown(chunk, found)
        self._append(chunk, found)

    def _leave_shifted_slots(self, found: ScannedExecutions) -> None:
        """Leave to the scalar decoder records whose writer left out outputs.

        Nothing is kept of what the scan has found in records that it leaves.
        """
        kinds = found.kinds
        told = np.union1d(found.alerts[0], found.measured[0])
        told = told[kinds[told] >= 0]
        for kind in np.unique(kinds[told]).tolist():
            rows = told[kinds[told] == kind]
            kinds[rows[found.num_outputs[rows] != self._kinds.values[kind].num_outputs]] = -1
        found.alerts = found.alerts[:, kinds[found.alerts[0]] >= 0]
        known = kinds[found.measured[0]] >= 0
        found.measured, found.largest = found.measured[:, known], found.largest[known]

    def _decode_unknown(self, chunk: Chunk, found: ScannedExecutions) -> None:
        """Read one by one the records whose kind is not known."""
        alerts: list[tuple[int, int, int]] = []
        measured: list[tuple[int, int]] = []
        largest: list[float] = []
        for row in np.flatnonzero(found.kinds < 0).tolist():
            decoded = self._decode(chunk, row)
            if decoded is not None:
                found.kinds[row], found.stacks[row] = decoded.kind, decoded.stack
                found.steps[row], found.serials[row] = decoded.step, decoded.serial
                alerts += ((row, slot, kinds) for slot, kinds in decoded.bad)
                measured += ((row, slot) for slot, _ in decoded.largest)
                largest += (value for _, value in decoded.largest)
        found.alerts = np.hstack([found.alerts, np.array(alerts, np.int64).reshape(-1, 3).T])
        found.measured = np.hstack([found.measured, np.array(measured, np.int64).reshape(-1, 2).T])
        found.largest = np.append(found.largest, largest)

    def _append(self, chunk: Chunk, found: ScannedExecutions) -> None:
        readable = found.kinds >= 0
        before = len(self.offsets)
        rows = np.cumsum(readable) - 1 + before
        self.offsets.extend(chunk.offsets[readable])
        self.kinds.extend(found.kinds[readable])
        self.stacks.extend(found.stacks[readable])
        self.steps.extend(_kept_steps(found.steps[readable]))
        if len(self.serials) or found.serials.any():
            self.serials.extend(np.zeros(before - len(self.serials), np.int64))
            self.serials.extend(found.serials[readable] & 0xFFFFFFFF)
        bad, slots, bad_kinds = found.alerts[:, np.lexsort((found.alerts[1], found.alerts[0]))]
        places = OutputPlace(found.kinds[bad], found.stacks[bad], slots).number
        self.alerts.extend(rows[bad], places, bad_kinds, slots)
        order = np.lexsort((found.measured[1], found.measured[0]))
        measured, slots = found.measured[:, order]
        self.magnitudes.extend(rows[measured], found.largest[order], slots=slots)

    def _kind_of(self, chunk: Chunk, row: int) -> int | None:
        """Return the kind of a record to judge others by; None if it is not to be trusted."""
        decoded = self._decode(chunk, row, report=False)
        return decoded.kind if decoded else None

    def _number_stack(self, code_location: bytes) -> int:
        return self._stacks.number((self.definitions.file_set, code_location))

    def _decode(self, chunk: Chunk, row: int, *, report: bool = True) -> _Decoded | None:
        """Read one record; None, and a problem, where it is not readable."""
        try:
            event = events.DebugEvent.decode(chunk.payload(row))
            if not event.execution:
                raise codec.DecodeError("no execution in it")
            record = events.Execution.decode(event.execution)
            summaries, _ = outputs_by_slot(record)
        except codec.DecodeError as error:
            if report:
                self._skip(chunk, row, error)
            return None
        bad = [(slot, kinds_of(summary)) for slot, summary in enumerate(summaries)]
        serial = record.serial or 0
        return _Decoded(
            kind=self._kinds.number(self._kind(record)),
            stack=self._number_stack(record.code_location),
            step=-1 if event.step is None else event.step,
            serial=serial & 0xFFFFFFFF,
            bad=tuple((slot, kinds) for slot, kinds in bad if kinds),
            largest=tuple(
                (slot, value)
                for slot, value in enumerate(_largest(record, summaries))
                if math.isfinite(value)
            ),
        )

    def _kind(self, record: events.Execution) -> ExecutionKind:
        return ExecutionKind(
            self.definitions.file_set,
            record.op_type,
            self.definitions.graph_id(record.graph_id) or None,
            record.num_outputs,
            record.tensor_debug_mode,
            record.layer or 0,
            tuple(map(self.definitions.graph_id, record.called_graph_ids)),
        )


def _largest(
    record: events.Execution, summaries: Sequence[TensorSummary | None]
) -> Sequence[float]:
    """Return the largest magnitude of each output that a record tells; NaN where it tells none."""
    if record.tensor_debug_mode == TensorDebugMode.FULL_TENSOR:
        return [largest_of_whole(summary) for summary in summaries]
    count = min(len(record.minima), len(record.maxima))
    return list(largest_magnitudes(record.minima[:count], record.maxima[:count]))


def _kept_steps(steps: Int64Array) -> Int64Array:
    """Return what `ExecutionLog.steps` keeps of steps, -1 for none: 32 bits, so none above that."""
    return np.where((steps >= 0) & (steps < 0xFFFFFFFF), steps + 1, 0)
