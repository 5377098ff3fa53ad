"""The executions of a run: an index of them in memory, their records in the file."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.alertlog import AlertLog, AlertTally, combined
from tfdbg_tui.logdir.columns import AscendingColumn, Column, ColumnView, Int64Array
from tfdbg_tui.logdir.events import Execution, ExecutionKind, TensorSummary
from tfdbg_tui.logdir.execution_scan import ExecutionScan
from tfdbg_tui.logdir.rows import Rows
from tfdbg_tui.logdir.slots import output_slots
from tfdbg_tui.logdir.summaries import recorded_tensor, tensor_summary
from tfdbg_tui.logdir.walltimes import read_wall_times, sane_time
from tfdbg_tui.wire import codec, events
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfdbg_tui.logdir.definitions import Definitions, Stacks
    from tfdbg_tui.logdir.merge import Merge
    from tfdbg_tui.logdir.problems import Problems
    from tfdbg_tui.logdir.recordfile import Chunk, RecordFile

_FEW = 8  # records for which setting up the scan is not worth it
_MAX_OUTPUTS = 1 << 16


class ExecutionKinds:
    """Every distinct kind of execution of a run, by number."""

    def __init__(self) -> None:
        self.kinds: list[ExecutionKind] = []
        self._numbers: dict[ExecutionKind, int] = {}

    def number(self, kind: ExecutionKind) -> int:
        """Return the number of a kind."""
        number = self._numbers.setdefault(kind, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kind)
        return number


class Place(NamedTuple):
    """What outputs of eager code have in common: numbers, or arrays of them."""

    kind: Any
    stack: Any
    slot: Any

    @property
    def number(self) -> Any:
        """The three in one: 16 bits of the slot, 24 of the stack, and the kind."""
        return (self.kind << 24 | self.stack) << 16 | self.slot

    @classmethod
    def of(cls, number: int) -> Place:
        """Return the place with a number."""
        return cls(number >> 40, number >> 16 & 0xFFFFFF, number & 0xFFFF)


@dataclass(frozen=True, slots=True)
class _Decoded:
    """What the index holds of one execution."""

    kind: int
    stack: int
    serial: int
    bad_slots: tuple[int, ...]


class ExecutionLog:
    """The index of one .execution file, grown chunk by chunk.

    Attributes:
        file: The file.
        definitions: What its records refer to.
        offsets: Where each record starts.
        kinds: Number of each execution's `ExecutionKind` in the run.
        stacks: Number of each execution's stack in the run.
        serials: Serial of each execution; empty where the writer records none.
        alerts: Outputs that hold a NaN or an infinity, by `Place`.
    """

    def __init__(
        self,
        file: RecordFile,
        definitions: Definitions,
        kinds: ExecutionKinds,
        stacks: Stacks,
        problems: Problems,
        *,
        vectorised: bool = True,
    ) -> None:
        self.file = file
        self.definitions = definitions
        self.offsets = AscendingColumn()
        self.kinds = Column()
        self.stacks = Column()
        self.serials = Column()
        self.alerts = AlertLog()
        self._kinds = kinds
        self._stacks = stacks
        self._problems = problems
        self._scan = ExecutionScan() if vectorised else None

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are merged with those of other processes."""
        return self.kinds, self.stacks

    def wall_times(self, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when some rows were recorded."""
        return read_wall_times(self.file, self.offsets.view().take(rows))

    def ingest(self, chunk: Chunk) -> None:
        """Index the records of a chunk."""
        count = len(chunk)
        kinds = np.full(count, -1, np.int64)
        stacks = np.zeros(count, np.int64)
        serials = np.zeros(count, np.int64)
        alerts = np.zeros((2, 0), np.int64)
        if self._scan is not None and chunk.large is None and count > _FEW:
            scanned = self._scan.scan(
                chunk, lambda row: self._kind_of(chunk, row), self._number_stack
            )
            kinds, stacks, serials = scanned.kinds, scanned.stacks, scanned.serials
            self._leave_shifted_slots(scanned.alert_rows, scanned.num_outputs, kinds)
            alerts = np.array([scanned.alert_rows, scanned.alert_slots])
            alerts = alerts[:, kinds[alerts[0]] >= 0]
        for row in np.flatnonzero(kinds < 0).tolist():
            decoded = self._decode(chunk, row)
            if decoded is not None:
                kinds[row], stacks[row], serials[row] = decoded.kind, decoded.stack, decoded.serial
                found = [[row] * len(decoded.bad_slots), decoded.bad_slots]
                alerts = np.concatenate([alerts, np.array(found, np.int64)], axis=1)
        self._append(chunk, kinds, stacks, serials, alerts)

    def _append(
        self,
        chunk: Chunk,
        kinds: Int64Array,
        stacks: Int64Array,
        serials: Int64Array,
        alerts: Int64Array,
    ) -> None:
        readable = kinds >= 0
        before = len(self.offsets)
        rows = np.cumsum(readable) - 1 + before
        self.offsets.extend(chunk.offsets[readable])
        self.kinds.extend(kinds[readable])
        self.stacks.extend(stacks[readable])
        if len(self.serials) or serials.any():
            self.serials.extend(np.zeros(before - len(self.serials), np.int64))
            self.serials.extend(serials[readable] & 0xFFFFFFFF)
        bad, slots = alerts[:, np.lexsort((alerts[1], alerts[0]))]
        self.alerts.extend(rows[bad], Place(kinds[bad], stacks[bad], slots).number, slots)

    def _leave_shifted_slots(
        self, alert_rows: Int64Array, num_outputs: Int64Array, kinds: Int64Array
    ) -> None:
        """Leave to the scalar decoder the bad records whose writer left out outputs."""
        alerting = np.unique(alert_rows)
        alerting = alerting[kinds[alerting] >= 0]
        for kind in np.unique(kinds[alerting]).tolist():
            rows = alerting[kinds[alerting] == kind]
            kinds[rows[num_outputs[rows] != self._kinds.kinds[kind].num_outputs]] = -1

    def _kind_of(self, chunk: Chunk, row: int) -> int | None:
        """Return the kind of a record to judge others by; None if it is not to be trusted."""
        decoded = self._decode(chunk, row, report=False) if chunk.is_intact(row) else None
        return decoded.kind if decoded else None

    def _number_stack(self, code_location: bytes) -> int:
        return self._stacks.number(self.definitions.file_set, code_location)

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
                offset = int(chunk.offsets[row])
                self._problems.add(
                    self.file.path,
                    f"the record at byte {offset:,} is not readable ({error}); it is skipped",
                )
            return None
        bad = [slot for slot, summary in enumerate(summaries) if summary and summary.bad]
        serial = record.serial or 0
        return _Decoded(
            kind=self._kinds.number(self._kind(record)),
            stack=self._number_stack(record.code_location),
            serial=serial & 0xFFFFFFFF,
            bad_slots=tuple(bad),
        )

    def _kind(self, record: events.Execution) -> ExecutionKind:
        return ExecutionKind(
            self.definitions.file_set,
            record.op_type,
            self.definitions.graph_id(record.graph_id) or None,
            record.num_outputs,
            record.tensor_debug_mode,
        )


def outputs_by_slot(
    record: events.Execution,
) -> tuple[tuple[TensorSummary | None, ...], bool]:
    """Return (the summary of each output by slot, whether the slots are certain)."""
    protos = record.tensor_protos
    summaries = _summaries(record.tensor_debug_mode, protos, record.minima, record.maxima)
    count = min(max(record.num_outputs, len(summaries)), _MAX_OUTPUTS)
    if len(summaries) in (0, count):
        return tuple(summaries or [None] * count), True
    slots = output_slots(
        record.op_type, count, [(bool(p), s) for p, s in zip(protos, summaries, strict=True)]
    )
    known = slots is not None
    by_slot: list[TensorSummary | None] = [None] * count
    for slot, summary in zip(slots or range(len(summaries)), summaries, strict=False):
        by_slot[slot] = summary
    return tuple(by_slot), known


def inputs_by_slot(record: events.Execution) -> tuple[TensorSummary | None, ...]:
    """Return the summary of each input; empty where the writer recorded none."""
    protos = record.input_tensor_protos
    mode = TensorDebugMode.FULL_HEALTH
    return tuple(_summaries(mode, protos, record.input_minima, record.input_maxima))


def _summaries(
    mode: int, protos: Sequence[bytes], minima: Sequence[float], maxima: Sequence[float]
) -> list[TensorSummary | None]:
    bounds: Iterable[tuple[float | None, float | None]] = (
        (low, high) if low == low else (None, None)
        for low, high in zip(minima, maxima, strict=False)
    )
    bounds = itertools.chain(bounds, itertools.repeat((None, None)))
    return [
        tensor_summary(mode, proto, low, high)
        for proto, (low, high) in zip(protos, bounds, strict=False)
    ]


class Executions:
    """The executions of a run, in order: ``executions[i]`` reads the i-th from its file.

    Those of several processes are merged: see `merge`.

    Attributes:
        kinds: Number of each execution's kind; see `kind`.
        stack_ids: Number of each execution's stack; see `Run.stack`.
        alert_rows: Index of the execution of each alert, ascending; one alert for each bad output.
        alert_slots: Output slot of each alert.
        alert_logs: The same of each file set, by the rows of its file.
    """

    def __init__(
        self, logs: Sequence[ExecutionLog], kinds: ExecutionKinds, merge: Merge | None
    ) -> None:
        self._files = [log.file for log in logs]
        self._definitions = [log.definitions for log in logs]
        self._offsets = [log.offsets.view() for log in logs]
        self._serials = [log.serials.view() for log in logs]
        self._rows = Rows([len(log) for log in logs], merge)
        self._kinds = kinds.kinds
        self._num_kinds = len(kinds.kinds)
        columns = merge.columns if merge else logs[0].columns
        self.kinds: ColumnView = columns[0].view()
        self.stack_ids: ColumnView = columns[1].view()
        self.alert_logs = [log.alerts.view() for log in logs]
        self.alert_rows = merge.alert_rows.view() if merge else self.alert_logs[0].rows
        self.alert_slots = merge.alert_slots.view() if merge else self.alert_logs[0].slots

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Execution]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Execution:
        """Read an execution from its file.

        Raises:
            IndexError: There is no such execution.
            OSError: The file cannot be read any more.
            ValueError: The record is, or has become, damaged.
        """
        log, row = self._rows.locate(index)
        event = events.DebugEvent.decode(self._files[log].record(self._offsets[log][row]))
        record = events.Execution.decode(event.execution)
        definitions = self._definitions[log]
        outputs, slots_known = outputs_by_slot(record)
        return Execution(
            index=index % len(self),
            wall_time=sane_time(event.wall_time),
            step=event.step,
            op_type=record.op_type,
            graph_id=definitions.graph_id(record.graph_id) or None,
            input_tensor_ids=tuple(record.input_tensor_ids),
            output_tensor_ids=tuple(record.output_tensor_ids),
            num_outputs=record.num_outputs,
            mode=record.tensor_debug_mode,
            outputs=outputs,
            output_devices=tuple(
                definitions.devices.get(number, f"device {number}")
                for number in record.output_tensor_device_ids
            ),
            slots_known=slots_known,
            stack_id=self.stack_ids[index],
            host=definitions.host,
            thread=record.thread,
            serial=record.serial,
            error=record.error or None,
            inputs=inputs_by_slot(record),
        )

    def tensor(self, index: int, slot: int) -> npt.NDArray[Any] | None:
        """Read an output itself; None in all modes but FULL_TENSOR, and for types without numpy's.

        It is None as well where not all outputs were recorded, so that they cannot be told apart.

        Raises:
            IndexError: There is no such execution.
            OSError: The file cannot be read any more.
            ValueError: The record is, or has become, damaged.
        """
        log, row = self._rows.locate(index)
        event = events.DebugEvent.decode(self._files[log].record(self._offsets[log][row]))
        record = events.Execution.decode(event.execution)
        if len(record.tensor_protos) != record.num_outputs or slot >= record.num_outputs:
            return None
        return recorded_tensor(record.tensor_debug_mode, record.tensor_protos[slot])

    def kind(self, index: int) -> ExecutionKind:
        """Return op type, graph and so on of an execution without reading its record."""
        return self._kinds[self.kinds[index]]

    @property
    def num_kinds(self) -> int:
        """How many distinct kinds there are so far."""
        return self._num_kinds

    def kind_by_id(self, kind_id: int) -> ExecutionKind:
        """Return the kind with a number found in `kinds`."""
        return self._kinds[kind_id]

    def place(self, index: int) -> tuple[int, int]:
        """Return (number of the file set, row in its file) of an execution."""
        return self._rows.locate(index)

    def index_of(self, place: tuple[int, int]) -> int:
        """Return the index of the row at a place that `place` gave for this or an earlier run."""
        return self._rows.index(*place)

    def bad_places(self) -> Iterator[tuple[Place, AlertTally]]:
        """Yield each place that has alerts, and their number, first and last index."""
        for number, tally in combined(self.alert_logs, self._rows.index):
            yield Place.of(number), tally

    def wall_times_at(self, log: int, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when some rows of the file of a file set were recorded."""
        return read_wall_times(self._files[log], self._offsets[log].take(rows))

    def wall_times(self, indices: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when each of some executions had finished, in seconds since the epoch."""
        indices = np.asarray(indices, np.int64)
        times = np.zeros(indices.shape)
        for log, places, rows in self._rows.split(indices.reshape(-1)):
            times.reshape(-1)[places] = self.wall_times_at(log, rows)
        return times

    def with_serial(self, log: int, serial: int) -> int | None:
        """Return the index of the execution of a process with a serial, or None.

        Args:
            log: Number of the process's file set in the run.
            serial: As in `Execution.serial`.
        """
        if not serial or log >= len(self._serials) or not len(self._serials[log]):
            return None
        serials = self._serials[log]
        serial &= 0xFFFFFFFF
        # Serials go up by one, but for executions that ended in another order.
        guess = serial - serials[0]
        for row in range(max(0, guess - 8), min(len(serials), guess + 9)):
            if serials[row] == serial:
                return self._rows.index(log, row)
        rows = serials.rows_equal(serial)
        return self._rows.index(log, int(rows[0])) if rows.size else None
