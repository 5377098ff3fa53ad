"""The executions of a run, as a list that reads them from their files."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.events import Execution, ExecutionKind
from tfdbg_tui.logdir.files.wall_times import sane_time
from tfdbg_tui.logdir.index.alert_log import AlertTally, combined
from tfdbg_tui.logdir.index.counted_steps import find_steps
from tfdbg_tui.logdir.index.event_list import EventList
from tfdbg_tui.logdir.index.magnitudes import Magnitudes, joined
from tfdbg_tui.logdir.index.output_place import OutputPlace
from tfdbg_tui.logdir.index.training_calls import is_backward_stack
from tfdbg_tui.logdir.values.output_slots import inputs_by_slot, outputs_by_slot
from tfdbg_tui.logdir.values.tensors import recorded_tensor
from tfdbg_tui.wire import codec, events, tfrecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tfdbg_tui.logdir.definitions.definitions import Stacks
    from tfdbg_tui.logdir.definitions.graphs import Graph
    from tfdbg_tui.logdir.definitions.numbering import Numbering
    from tfdbg_tui.logdir.index.columns import Int64Array
    from tfdbg_tui.logdir.index.execution_log import ExecutionLog
    from tfdbg_tui.logdir.index.merge import Merge
    from tfdbg_tui.logdir.index.steps import Steps


# The fields' numbers.
_INPUT_TENSOR_IDS = events.Execution.tag("input_tensor_ids") >> 3
_OUTPUT_TENSOR_IDS = events.Execution.tag("output_tensor_ids") >> 3

_BLOCK = 128  # executions whose records are read together
_BLOCKS = 32  # that are kept
_SHORT = 2048  # bytes: as long as nearly all records are


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
