"""The executions of a run: an index of them in memory, their records in the file."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.columns import Column, ColumnView, Int64Array, OffsetColumn
from tfdbg_tui.logdir.events import Execution, ExecutionKind, Problem, TensorSummary
from tfdbg_tui.logdir.summaries import tensor_summary
from tfdbg_tui.wire import codec, events, tfrecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir.definitions import Definitions, Stacks
    from tfdbg_tui.logdir.recordfile import Chunk, RecordFile

_WALL_TIME = struct.Struct("<d")
_WALL_TIME_AT = tfrecord.HEADER_SIZE + 1


class ExecutionLog:
    """The index of one .execution file, grown chunk by chunk.

    Attributes:
        offsets: Where each record starts.
        kinds: Number of each execution's `ExecutionKind` in the run.
        stacks: Number of each execution's stack in the run.
        alerts: (row, output slot) of each output that holds a NaN or an infinity.
    """

    def __init__(
        self,
        file_set: int,
        kinds: dict[ExecutionKind, int],
        stacks: Stacks,
        problems: list[Problem],
    ) -> None:
        self.offsets = OffsetColumn()
        self.kinds = Column(np.uint32)
        self.stacks = Column(np.uint32)
        self.alerts: list[tuple[int, int]] = []
        self.serials: dict[int, int] = {}
        self._file_set = file_set
        self._kinds = kinds
        self._stacks = stacks
        self._problems = problems

    def ingest(self, file: RecordFile, chunk: Chunk) -> None:
        """Index the records of a chunk."""
        offsets: list[int] = []
        kinds: list[int] = []
        stacks: list[int] = []
        for start, end in zip(chunk.offsets, chunk.ends, strict=True):
            payload = chunk.data[start + tfrecord.HEADER_SIZE : end - tfrecord.FOOTER_SIZE]
            try:
                event = events.DebugEvent.decode(payload)
                record = events.Execution.decode(event.execution)
                outputs = output_summaries(record)
            except codec.DecodeError as error:
                where = f"{file.path}: record at byte {chunk.base + start:,}"
                message = f"{where} is not readable ({error}); it is skipped"
                self._problems.append(Problem(file.path, message))
                continue
            row = len(self.offsets) + len(offsets)
            self.alerts += [
                (row, slot) for slot, s in enumerate(outputs) if s is not None and s.bad
            ]
            if record.serial is not None:
                self.serials[record.serial] = row
            offsets.append(chunk.base + start)
            kinds.append(self._kind(record))
            stacks.append(self._stacks.number(self._file_set, record.code_location))
        self.offsets.extend(np.array(offsets, np.int64))
        self.kinds.extend(np.array(kinds, np.uint32))
        self.stacks.extend(np.array(stacks, np.uint32))

    def _kind(self, record: events.Execution) -> int:
        kind = ExecutionKind(
            self._file_set,
            record.op_type,
            record.graph_id or None,
            record.num_outputs,
            record.tensor_debug_mode,
        )
        return self._kinds.setdefault(kind, len(self._kinds))


def output_summaries(record: events.Execution) -> tuple[TensorSummary | None, ...]:
    """Return the summary of each output of an execution, by slot."""
    bounds = zip(record.minima, record.maxima, strict=False)
    known = [(low, high) if low == low else (None, None) for low, high in bounds]
    known += [(None, None)] * (len(record.tensor_protos) - len(known))
    summaries = [
        tensor_summary(record.tensor_debug_mode, proto, low, high)
        for proto, (low, high) in zip(record.tensor_protos, known, strict=False)
    ]
    summaries += [None] * (min(record.num_outputs, 1 << 16) - len(summaries))
    return tuple(summaries)


class Executions:
    """The executions of a run, in order: ``executions[i]`` reads the i-th from its file.

    Attributes:
        kinds: Number of each execution's kind; see `kind`.
        stack_ids: Number of each execution's stack; see `Run.stack`.
        alert_rows: Index of the execution of each alert, ascending; one alert for each bad output.
        alert_slots: Output slot of each alert.
    """

    def __init__(
        self,
        file: RecordFile,
        log: ExecutionLog,
        kinds: list[ExecutionKind],
        definitions: Definitions,
    ) -> None:
        self._file = file
        self._offsets = log.offsets.view()
        self._kinds = kinds
        self._definitions = definitions
        self.kinds: ColumnView = log.kinds.view()
        self.stack_ids: ColumnView = log.stacks.view()
        alerts = np.array(log.alerts, np.int64).reshape(-1, 2)
        self.alert_rows: Int64Array = alerts[:, 0]
        self.alert_slots: Int64Array = alerts[:, 1]

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Execution]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Execution:
        """Read an execution from its file.

        Raises:
            IndexError: There is no such execution.
            OSError: The file cannot be read any more.
            ValueError: The record is, or has become, damaged.
        """
        offset = self._offsets[index]
        event = events.DebugEvent.decode(self._file.record(offset))
        record = events.Execution.decode(event.execution)
        devices = self._definitions.devices
        return Execution(
            index=index % len(self),
            wall_time=event.wall_time,
            step=event.step,
            op_type=record.op_type,
            graph_id=record.graph_id or None,
            input_tensor_ids=tuple(record.input_tensor_ids),
            output_tensor_ids=tuple(record.output_tensor_ids),
            num_outputs=record.num_outputs,
            mode=record.tensor_debug_mode,
            outputs=output_summaries(record),
            output_devices=tuple(
                devices.get(number, f"device {number}")
                for number in record.output_tensor_device_ids
            ),
            slots_known=len(record.tensor_protos) in (0, record.num_outputs),
            stack_id=self.stack_ids[index],
            host=self._definitions.host,
            thread=record.thread,
            serial=record.serial,
            error=record.error or None,
        )

    def kind(self, index: int) -> ExecutionKind:
        """Return op type, graph and so on of an execution without reading its record."""
        return self._kinds[self.kinds[index]]

    @property
    def num_kinds(self) -> int:
        """How many distinct kinds there are so far."""
        return len(self._kinds)

    def kind_by_id(self, kind_id: int) -> ExecutionKind:
        """Return the kind with a number found in `kinds`."""
        return self._kinds[kind_id]

    def wall_times(self, indices: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return when each of some executions had finished, in seconds since the epoch."""
        offsets = self._offsets.take(indices)
        return np.array([_wall_time(self._file, int(o)) for o in offsets], np.float64)


def _wall_time(file: RecordFile, offset: int) -> float:
    data = file.bytes_at(offset + _WALL_TIME_AT, 8)
    return _WALL_TIME.unpack(data)[0] if len(data) == 8 else 0.0
