"""The executions of a run: an index of them in memory, their records in the file."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.events import Execution, ExecutionKind, TensorSummary
from tfdbg_tui.logdir.files.wall_times import sane_time
from tfdbg_tui.logdir.index.alert_log import AlertTally, combined
from tfdbg_tui.logdir.index.columns import Column, Int64Array
from tfdbg_tui.logdir.index.counted_steps import find_steps
from tfdbg_tui.logdir.index.event_list import EventList
from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes, joined
from tfdbg_tui.logdir.index.record_log import RecordLog, is_worth_scanning
from tfdbg_tui.logdir.index.training_calls import is_backward_stack
from tfdbg_tui.logdir.scan.execution_scan import ExecutionScan
from tfdbg_tui.logdir.scan.health_scan import largest_magnitudes
from tfdbg_tui.logdir.values.bad_kinds import kinds_of
from tfdbg_tui.logdir.values.output_slots import inputs_by_slot, outputs_by_slot
from tfdbg_tui.logdir.values.summaries import largest_of_whole
from tfdbg_tui.logdir.values.tensors import recorded_tensor
from tfdbg_tui.wire import codec, events, tfrecord
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tfdbg_tui.logdir.definitions.definitions import Definitions, Stacks
    from tfdbg_tui.logdir.definitions.graphs import Graph
    from tfdbg_tui.logdir.definitions.numbering import Numbering
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.problems import Problems
    from tfdbg_tui.logdir.files.record_file import RecordFile
    from tfdbg_tui.logdir.index.merge import Merge
    from tfdbg_tui.logdir.index.steps import Steps


# The fields' numbers.
_INPUT_TENSOR_IDS = events.Execution.tag("input_tensor_ids") >> 3
_OUTPUT_TENSOR_IDS = events.Execution.tag("output_tensor_ids") >> 3

_BLOCK = 128  # executions whose records are read together
_BLOCKS = 32  # that are kept
_SHORT = 2048  # bytes: as long as nearly all records are


class OutputPlace(NamedTuple):
    """What outputs of eager code have in common: numbers, or arrays of them."""

    kind: Any
    stack: Any
    slot: Any

    @property
    def number(self) -> Any:
        """The three in one: 20 bits of the slot, 24 of the stack, and the kind."""
        return (self.kind << 24 | self.stack) << 20 | self.slot

    @classmethod
    def of(cls, number: Any) -> OutputPlace:
        """Return the place with a number, or those with an array of them."""
        return cls(number >> 44, number >> 20 & 0xFFFFFF, number & 0xFFFFF)


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
        count = len(chunk)
        kinds = np.full(count, -1, np.int64)
        stacks = np.zeros(count, np.int64)
        steps = np.full(count, -1, np.int64)
        serials = np.zeros(count, np.int64)
        alerts = np.zeros((3, 0), np.int64)
        measured, largest = np.zeros((2, 0), np.int64), np.zeros(0)
        if self._scan is not None and is_worth_scanning(chunk):
            scanned = self._scan.scan(
                chunk, lambda row: self._kind_of(chunk, row), self._number_stack
            )
            kinds, stacks = scanned.kinds, scanned.stacks
            steps, serials = scanned.steps, scanned.serials
            told = np.concatenate([scanned.alerts[0], scanned.measured[0]])
            self._leave_shifted_slots(told, scanned.num_outputs, kinds)
            alerts = scanned.alerts[:, kinds[scanned.alerts[0]] >= 0]
            known = kinds[scanned.measured[0]] >= 0
            measured, largest = scanned.measured[:, known], scanned.largest[known]
        for row in np.flatnonzero(kinds < 0).tolist():
            decoded = self._decode(chunk, row)
            if decoded is not None:
                kinds[row], stacks[row] = decoded.kind, decoded.stack
                steps[row], serials[row] = decoded.step, decoded.serial
                found = np.array([(row, *bad) for bad in decoded.bad], np.int64).reshape(-1, 3)
                alerts = np.concatenate([alerts, found.T], axis=1)
                slots = np.array([[row, slot] for slot, _ in decoded.largest], np.int64)
                measured = np.concatenate([measured, slots.reshape(-1, 2).T], axis=1)
                largest = np.append(largest, [value for _, value in decoded.largest])
        self._append_magnitudes(kinds, measured, largest)
        self._append(chunk, kinds, stacks, steps, serials, alerts)

    def _append_magnitudes(self, kinds: Int64Array, measured: Int64Array, largest: Floats) -> None:
        rows = np.cumsum(kinds >= 0) - 1 + len(self.offsets)
        order = np.lexsort((measured[1], measured[0]))
        row, slots = measured[:, order]
        self.magnitudes.extend(rows[row], largest[order], slots=slots)

    def _append(
        self,
        chunk: Chunk,
        kinds: Int64Array,
        stacks: Int64Array,
        steps: Int64Array,
        serials: Int64Array,
        alerts: Int64Array,
    ) -> None:
        readable = kinds >= 0
        before = len(self.offsets)
        rows = np.cumsum(readable) - 1 + before
        self.offsets.extend(chunk.offsets[readable])
        self.kinds.extend(kinds[readable])
        self.stacks.extend(stacks[readable])
        self.steps.extend(_kept_steps(steps[readable]))
        if len(self.serials) or serials.any():
            self.serials.extend(np.zeros(before - len(self.serials), np.int64))
            self.serials.extend(serials[readable] & 0xFFFFFFFF)
        bad, slots, found = alerts[:, np.lexsort((alerts[1], alerts[0]))]
        places = OutputPlace(kinds[bad], stacks[bad], slots).number
        self.alerts.extend(rows[bad], places, found, slots)

    def _leave_shifted_slots(
        self, told: Int64Array, num_outputs: Int64Array, kinds: Int64Array
    ) -> None:
        """Leave to the scalar decoder those of some records whose writer left out outputs."""
        told = np.unique(told)
        told = told[kinds[told] >= 0]
        for kind in np.unique(kinds[told]).tolist():
            rows = told[kinds[told] == kind]
            kinds[rows[num_outputs[rows] != self._kinds.values[kind].num_outputs]] = -1

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


class Executions(EventList[Execution]):
    """The executions of a run, in order: ``executions[i]`` reads the i-th from its file.

    Attributes:
        kinds: Number of each execution's kind; see `kind`.
        stack_ids: Number of each execution's stack; see `Run.stack`.
        step_marks: Training step of each execution, plus 1; 0 where it has none; see `steps`.
        alert_slots: Output slot of each alert.

    Args:
        logs: The index of each file.
        kinds: The kinds that the logs number.
        graphs: The graphs of the run by id.
        stacks: The stacks that the logs number.
        merge: The order of several files; None for one alone.
    """

    def __init__(
        self,
        logs: Sequence[ExecutionLog],
        kinds: Numbering[ExecutionKind],
        graphs: Mapping[str, Graph],
        stacks: Stacks,
        merge: Merge | None,
    ) -> None:
        super().__init__(logs, merge)
        self.kinds, self.stack_ids, self.step_marks = self._columns
        self.alert_slots = merge.alert_slots.view() if merge else self.alert_logs[0].slots
        self._serials = [log.serials.view() for log in logs]
        self._magnitudes = [
            (log.kinds.view(), log.stacks.view(), log.magnitudes.view()) for log in logs
        ]
        self._kinds = kinds.values
        self._num_kinds = len(kinds.values)
        self._graphs = graphs
        self._stacks = stacks
        self._block = lru_cache(_BLOCKS)(self._read_block)

    def _decoded(self, index: int, log: int, event: events.DebugEvent) -> Execution:
        record = events.Execution.decode(event.execution)
        definitions = self._definitions[log]
        outputs, slots_known = outputs_by_slot(record)
        return Execution(
            index=index,
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
            compared=tuple(None if math.isnan(one) else one for one in record.compared),
            layer=definitions.layers.get(record.layer or 0),
            called_graphs=tuple(map(definitions.graph_id, record.called_graph_ids)),
        )

    def _unreadable(self, index: int, reason: str) -> Execution:
        kind = self.kind(index)
        return Execution(
            index=index,
            wall_time=0.0,
            step=None,
            op_type=kind.op_type,
            graph_id=kind.graph_id,
            input_tensor_ids=(),
            output_tensor_ids=(),
            num_outputs=kind.num_outputs,
            mode=kind.mode,
            outputs=(),
            output_devices=(),
            slots_known=True,
            stack_id=self.stack_ids[index],
            host=self._definitions[kind.file_set].host,
            unreadable=reason,
        )

    def input_tensor_ids(self, index: int) -> tuple[int, ...]:
        """Return what an execution says of its inputs, several times as fast as all of it.

        Raises:
            IndexError: There is no such execution.
            UnreadableError: The record cannot be read.
        """
        return self._tensor_ids(index, _INPUT_TENSOR_IDS)

    def output_tensor_ids(self, index: int) -> tuple[int, ...]:
        """Return what an execution says of its outputs, several times as fast as all of it.

        Raises:
            IndexError: There is no such execution.
            UnreadableError: The record cannot be read.
        """
        return self._tensor_ids(index, _OUTPUT_TENSOR_IDS)

    def naming(self, tensor_id: int, indices: Iterable[int]) -> Iterator[int]:
        """Yield those of some executions that may have a tensor among inputs and outputs.

        All others have not.  Bytes of the records are looked at, many times as fast as decoding.
        """
        wanted = codec.varint(tensor_id)
        seen, records, may_name = -1, [], False
        for index in indices:
            block, place = divmod(index, _BLOCK)
            if block != seen:
                seen, records = block, self._block(block)
                # All of a block at once: most name none of it.
                may_name = None in records or wanted in b"".join(filter(None, records))
            if may_name and ((record := records[place]) is None or wanted in record):
                yield index

    def _read_block(self, block: int) -> list[bytes | None]:
        """Read the records of a block of executions; None for what is long, or cannot be read."""
        indices = np.arange(block * _BLOCK, min(len(self), (block + 1) * _BLOCK))
        found: list[bytes | None] = [None] * len(indices)
        for log, places, rows in self._rows.split(indices):
            offsets = self._offsets[log].take(rows).tolist()
            with suppress(OSError):
                read = self._files[log].bytes_at_each(offsets, _SHORT)
                for place, data in zip(places.tolist(), read, strict=True):
                    size = tfrecord.FRAME_SIZE + int.from_bytes(data[:8], "little")
                    found[place] = data[:size] if size <= len(data) else None
        return found

    def _tensor_ids(self, index: int, field: int) -> tuple[int, ...]:
        ids: list[int] = []
        with self._reading(index) as (_, event):
            for number, _, value in codec.fields(event.execution):
                if number == field:
                    ids += codec.unpack_varints(value) if isinstance(value, bytes) else [value]
        return tuple(ids)

    def tensor(self, index: int, slot: int) -> npt.NDArray[Any] | None:
        """Read an output itself; None in all modes but FULL_TENSOR, and for types without numpy's.

        It is None as well where not all outputs were recorded, so that they cannot be told apart.

        Raises:
            IndexError: There is no such execution.
            UnreadableError: The record cannot be read.
        """
        with self._reading(index) as (_, event):
            record = events.Execution.decode(event.execution)
            if len(record.tensor_protos) != record.num_outputs or slot >= record.num_outputs:
                return None
            return recorded_tensor(record.tensor_debug_mode, record.tensor_protos[slot])

    @cached_property
    def steps(self) -> Steps:
        """The training steps, recorded or counted; found when they are first asked for."""
        gradients = {
            maker
            for definitions in self._definitions
            for given in list(definitions.gradients_given.values())
            for maker in list(given)
        }
        return find_steps(
            self.step_marks,
            self.kinds,
            self.stack_ids,
            self._kinds,
            self._graphs,
            gradients,
            self._is_backward,
            marked_by_fit=any(definitions.fit_batches for definitions in self._definitions),
        )

    def _is_backward(self, stack_id: int) -> bool:
        file_set, _ = self._stacks.values[stack_id]
        return is_backward_stack(self._definitions[file_set].stack(stack_id))

    def kind(self, index: int) -> ExecutionKind:
        """Return op type, graph and so on of an execution without reading its record."""
        return self._kinds[self.kinds[index]]

    @cached_property
    def distinct_kinds(self) -> Sequence[ExecutionKind]:
        """The kinds so far, by the numbers found in `kinds`."""
        return self._kinds[: self._num_kinds]

    def of_kinds(self, is_wanted: Callable[[ExecutionKind], bool]) -> Int64Array:
        """Return the executions of all wanted kinds, ascending."""
        numbers = (number for number, kind in enumerate(self.distinct_kinds) if is_wanted(kind))
        rows = [self.kinds.rows_equal(number) for number in numbers]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *rows]))

    def bad_places(self) -> Iterator[tuple[OutputPlace, AlertTally]]:
        """Yield each place that has alerts, and their number, first and last index."""
        for number, tally in combined(self.alert_logs, self._rows.index):
            yield OutputPlace.of(number), tally

    @property
    def num_measured(self) -> int:
        """Number of outputs whose largest magnitude is on record."""
        return sum(len(found.rows) for _, _, found in self._magnitudes)

    def magnitudes(self, places: Sequence[int] | None = None) -> Magnitudes:
        """Return the largest magnitudes on record, of places by their numbers or of all."""
        parts = []
        for log, (kinds, stacks, found) in enumerate(self._magnitudes):
            rows = found.rows[:]
            numbers = OutputPlace(kinds.take(rows), stacks.take(rows), found.slots[:]).number
            some = np.arange(len(rows)) if places is None else np.isin(numbers, places).nonzero()[0]
            indices = self._rows.indices(log, rows[some])
            parts.append(Magnitudes(indices, numbers[some], indices, found.largest(some)))
        return joined(parts)

    def with_serials(self, log: int, serials: Int64Array) -> Int64Array:
        """Return the indices of the executions of a process with some serials; -1 where none is.

        Args:
            log: Number of the process's file set in the run.
            serials: As in `Execution.serial`, of which the low 32 bits count.
        """
        if log >= len(self._serials) or not len(self._serials[log]):
            return np.full(len(serials), -1, np.int64)
        known = self._serials[log][:]
        order = np.argsort(known, kind="stable")  # nearly sorted already
        places = np.minimum(np.searchsorted(known, serials, sorter=order), len(known) - 1)
        rows = order[places]
        indices = self._rows.indices(log, rows)
        return np.where((known[rows] == serials) & (serials > 0), indices, -1)

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
