"""Executions by the thousand: what kind each one is, from where, and which outputs are bad.

The records of a chunk are walked field by field, all at once.  Op type, number of outputs and
graph are interned together, the stack trace by itself: there are few of each, and of layers.  The
value vector of every output is looked at.  A record that does not look as expected is left to the
scalar decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files.gather import words
from tfdbg_tui.logdir.scan.cursor import Cursor, into_events
from tfdbg_tui.logdir.scan.health_scan import HealthScan, largest_magnitudes
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.logdir.scan.recognition import UNKNOWN, Recognition
from tfdbg_tui.wire.events import DebugEvent, Execution
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.gather import Flags, Floats, Ints, Words
    from tfdbg_tui.logdir.scan.recognition import Decode

_MAX_OUTPUTS = 64  # of records with more, the scalar decoder reads all
_MAX_INPUTS = 16  # likewise; only those of ops with a bad output are recorded
_MAX_CALLED = 16  # likewise
_MAX_MODE, _MODE_BITS = 1 << 8, 8  # likewise
_MAX_LAYER = 1 << 24  # likewise

_EXECUTION = DebugEvent.tag("execution")
_OP_TYPE = Execution.tag("op_type")
_NUM_OUTPUTS = Execution.tag("num_outputs")
_GRAPH_ID = Execution.tag("graph_id")
_INPUT_IDS = Execution.tag("input_tensor_ids")
_OUTPUT_IDS = Execution.tag("output_tensor_ids")
_MODE = Execution.tag("tensor_debug_mode")
_PROTO = Execution.tag("tensor_protos")
_CODE_LOCATION = Execution.tag("code_location")
_DEVICE_IDS = Execution.tag("output_tensor_device_ids")
_SERIAL = Execution.tag("serial")
_THREAD = Execution.tag("thread")
_ERROR = Execution.tag("error")
_MINIMA = Execution.tag("minima")
_MAXIMA = Execution.tag("maxima")
_MEASURED_TYPES = Execution.tag("measured_types")
_INPUT_PROTO = Execution.tag("input_tensor_protos")
_INPUT_MINIMA = Execution.tag("input_minima")
_INPUT_MAXIMA = Execution.tag("input_maxima")
_LAYER = Execution.tag("layer")
_BAD_ELEMENTS = Execution.tag("bad_elements")
_INPUT_BAD_ELEMENTS = Execution.tag("input_bad_elements")
_COMPARED = Execution.tag("compared")
_CALLED_GRAPH_ID = Execution.tag("called_graph_ids")


class ScannedExecutions:
    """What a scan found; arrays over the records of a chunk.

    Attributes:
        kinds: Number of each record's kind; -1 where only the scalar decoder can read it.
        stacks: Number of each record's stack.
        steps: Training step of each record; -1 where it has none.
        serials: Serial of each record; 0 where it has none.
        num_outputs: Number of value vectors, and placeholders for them, in each record.
        alerts: Row of each bad output, its place among the record's value vectors, and the kinds
            of its bad elements (see `values.bad_kinds`); shape [3, alerts], in no order.
        measured: Row and slot of each output whose largest magnitude is on record; shape
            [2, outputs], in no order.
        largest: The largest magnitude of a finite element of each of them.
    """

    def __init__(self, count: int) -> None:
        self.kinds = np.full(count, UNKNOWN, np.int64)
        self.stacks = np.zeros(count, np.int64)
        self.steps = np.full(count, -1, np.int64)
        self.serials = np.zeros(count, np.int64)
        self.num_outputs = np.zeros(count, np.int64)
        self.alerts = np.zeros((3, 0), np.int64)
        self.measured = np.zeros((2, 0), np.int64)
        self.largest = np.zeros(0)


@dataclass(slots=True)
class _Outputs:
    """The outputs of some records: see `ScannedExecutions`, but for the rows, which count these."""

    counts: Ints
    alerts: Ints
    measured: Ints
    largest: Floats


@dataclass(slots=True)
class _Fields:
    """Where the fields of executions are in their chunk, and how long; each of shape [records]."""

    ok: Flags
    step: Ints
    head: Ints
    head_size: Ints
    called: Ints
    called_size: Ints
    mode: Ints
    layer: Ints
    outputs: _Outputs
    code_location: Ints
    code_location_size: Ints
    has_serial: Flags
    serial: Ints
    minima: Ints
    maxima: Ints
    extremes_size: Ints


class ExecutionScan:
    """What the scan of one file has learned."""

    def __init__(self) -> None:
        self._heads = Interner()
        self._stacks = Interner()
        self._kinds = Recognition()
        self._stack_of: list[int] = []
        self._health = HealthScan()

    def scan(
        self, chunk: Chunk, decode: Decode, number_stack: Callable[[bytes], int]
    ) -> ScannedExecutions:
        """Scan the records of a chunk.

        Args:
            chunk: Records; not a single large one.
            decode: ``decode(row)`` returns the kind of a record by the scalar decoder, or None
                where the record is not readable.
            number_stack: Returns the number of a serialized CodeLocation in the run.
        """
        found = ScannedExecutions(len(chunk))
        rows = np.arange(len(chunk))
        for skip_unknown in (False, True):
            if rows.size:
                fields = self._walk(chunk, rows, skip_unknown=skip_unknown)
                self._note(chunk, rows, fields, decode, number_stack, found)
                rows = rows[~fields.ok]
        return found

    def _note(
        self,
        chunk: Chunk,
        rows: Ints,
        fields: _Fields,
        decode: Decode,
        number_stack: Callable[[bytes], int],
        found: ScannedExecutions,
    ) -> None:
        """Note in `found` what the fields say of those among `rows` that are as expected."""
        data, some = chunk.data, np.flatnonzero(fields.ok)
        mine = rows[some]
        heads = self._heads.numbers(data, fields.head[some], fields.head_size[some])
        for row in np.flatnonzero(fields.called_size[some]).tolist():  # Our writer has none there.
            at = some[row]
            head = data[fields.head[at] :][: fields.head_size[at]].tobytes()
            called = data[fields.called[at] :][: fields.called_size[at]].tobytes()
            heads[row] = self._heads.number(head + called)
        modes_and_layers = fields.layer[some] << _MODE_BITS | fields.mode[some]
        found.kinds[mine] = self._kinds.recognise(heads, modes_and_layers, mine, decode)
        stacks = self._stacks.numbers(
            data, fields.code_location[some], fields.code_location_size[some]
        )
        for code_location in self._stacks.strings[len(self._stack_of) :]:
            self._stack_of.append(number_stack(code_location))
        found.stacks[mine] = np.array(self._stack_of, np.int64)[stacks]
        found.steps[mine] = fields.step[some]
        numbered = np.flatnonzero(fields.ok & fields.has_serial)
        found.serials[rows[numbered]] = words(data)[fields.serial[numbered]].view(np.int64)
        _note_extremes(words(data), rows, fields, found)
        outputs = fields.outputs
        found.num_outputs[mine] = outputs.counts[some]
        alerting = fields.ok[outputs.alerts[0]]
        row, slot, kinds = outputs.alerts[:, alerting]
        found.alerts = np.concatenate([found.alerts, np.array([rows[row], slot, kinds])], axis=1)
        is_whole = fields.ok[outputs.measured[0]]
        row, slot = outputs.measured[:, is_whole]
        _note_measured(np.array([rows[row], slot]), outputs.largest[is_whole], found)

    def _walk(self, chunk: Chunk, rows: Ints, *, skip_unknown: bool) -> _Fields:
        """Walk the fields of some records, in the order of their numbers or in our writer's.

        That has what is the same whenever an op is executed in one place before all else.
        """
        cursor, step = into_events(
            chunk.data, chunk.payload_bounds(rows), _EXECUTION, Execution, skip_unknown=skip_unknown
        )
        head = cursor.position
        cursor.optional_bytes(_OP_TYPE)
        cursor.optional_varint(_NUM_OUTPUTS)
        cursor.optional_bytes(_GRAPH_ID)
        _skip_all(cursor, _CALLED_GRAPH_ID, _MAX_CALLED)
        cursor.optional_varint(_NUM_OUTPUTS)
        head_size = cursor.position - head
        _skip_ids(cursor)
        mode = cursor.optional_varint(_MODE)
        outputs = self._outputs(chunk, cursor, mode)
        _, location, location_size = cursor.optional_bytes(_CODE_LOCATION)
        cursor.optional_bytes(_DEVICE_IDS)
        layer = _layers(chunk, cursor)
        _skip_ids(cursor)
        outputs = _either(cursor, outputs, self._outputs(chunk, cursor, mode))
        has_serial, serial = cursor.optional_fixed(_SERIAL)
        cursor.optional_fixed(_THREAD)
        cursor.optional_bytes(_ERROR)
        _, minima, size = cursor.optional_bytes(_MINIMA)
        _, maxima, maxima_size = cursor.optional_bytes(_MAXIMA)
        cursor.optional_bytes(_MEASURED_TYPES)
        _skip_inputs(cursor)
        layer = np.maximum(layer, _layers(chunk, cursor))
        cursor.optional_bytes(_BAD_ELEMENTS)
        cursor.optional_bytes(_INPUT_BAD_ELEMENTS)
        cursor.optional_bytes(_COMPARED)
        called = cursor.position
        _skip_all(cursor, _CALLED_GRAPH_ID, _MAX_CALLED)
        called_size = cursor.position - called
        cursor.optional_bytes(_MEASURED_TYPES)
        cursor.optional_bytes(_ERROR)
        cursor.ok &= (mode < _MAX_MODE) & (layer < _MAX_LAYER)
        return _Fields(
            cursor.ends(),
            step,
            head,
            head_size,
            called,
            called_size,
            mode,
            layer,
            outputs,
            location,
            location_size,
            has_serial,
            serial,
            minima,
            maxima,
            np.minimum(size, maxima_size),
        )

    def _outputs(self, chunk: Chunk, cursor: Cursor, mode: Ints) -> _Outputs:
        """Walk the outputs of the records, slot by slot."""
        rows = np.arange(len(cursor.position))
        counts = np.zeros(len(rows), np.int64)
        part = cursor
        alerts, measured = [np.zeros((3, 0), np.int64)], [np.zeros((2, 0), np.int64)]
        sizes = [np.zeros(0)]
        for slot in range(_MAX_OUTPUTS):
            has, start, size = part.optional_bytes(_PROTO)
            if part is not cursor:
                cursor.put(rows, part)
            if not has.any():
                break
            some = np.flatnonzero(has & part.ok)
            rows, start, size = rows[some], start[some], size[some]
            counts[rows] += 1
            bad, largest, known = self._health.look(chunk.data, mode[rows], start, size)
            cursor.ok[rows] &= known
            told = np.flatnonzero(known & (bad > 0))
            alerts.append(np.concatenate([_at_slot(rows[told], slot), bad[None, told]]))
            is_measured = np.isfinite(largest)
            measured.append(_at_slot(rows[is_measured], slot))
            sizes.append(largest[is_measured])
            part = cursor.subset(rows)
        return _Outputs(
            counts,
            np.concatenate(alerts, axis=1),
            np.concatenate(measured, axis=1),
            np.concatenate(sizes),
        )


def _at_slot(rows: Ints, slot: int) -> Ints:
    return np.array([rows, np.full(len(rows), slot)])


def _layers(chunk: Chunk, cursor: Cursor) -> Ints:
    has, start = cursor.optional_fixed(_LAYER)
    if not has.any():
        return np.zeros(len(has), np.int64)
    numbers = words(chunk.data)[np.where(has, start, 0)].view(np.int64) & 0xFFFFFFFF
    return np.where(has, numbers, 0)


def _note_extremes(numbers: Words, rows: Ints, fields: _Fields, found: ScannedExecutions) -> None:
    """Note the largest magnitude of each output that is not there itself, slot by slot."""
    ok = fields.ok & (fields.mode != TensorDebugMode.FULL_TENSOR)
    for slot in range(_MAX_OUTPUTS):
        at = 8 * slot
        some = np.flatnonzero(ok & (fields.extremes_size >= at + 8))
        if not some.size:
            return
        largest = largest_magnitudes(
            numbers[fields.minima[some] + at].view(np.float64),
            numbers[fields.maxima[some] + at].view(np.float64),
        )
        known = np.isfinite(largest)
        _note_measured(_at_slot(rows[some[known]], slot), largest[known], found)


def _note_measured(places: Ints, largest: Floats, found: ScannedExecutions) -> None:
    found.measured = np.concatenate([found.measured, places], axis=1)
    found.largest = np.concatenate([found.largest, largest])


def _either(cursor: Cursor, first: _Outputs, second: _Outputs) -> _Outputs:
    """Return the outputs of records that have them in one of two places; no record has in both."""
    cursor.ok &= (first.counts == 0) | (second.counts == 0)
    return _Outputs(
        first.counts + second.counts,
        np.concatenate([first.alerts, second.alerts], axis=1),
        np.concatenate([first.measured, second.measured], axis=1),
        np.concatenate([first.largest, second.largest]),
    )


def _skip_ids(cursor: Cursor) -> None:
    cursor.optional_bytes(_INPUT_IDS)
    cursor.optional_bytes(_OUTPUT_IDS)


def _skip_inputs(cursor: Cursor) -> None:
    _skip_all(cursor, _INPUT_PROTO, _MAX_INPUTS)
    cursor.optional_bytes(_INPUT_MINIMA)
    cursor.optional_bytes(_INPUT_MAXIMA)


def _skip_all(cursor: Cursor, tag: int, most: int) -> None:
    """Move past a field that there may be several times."""
    for _ in range(most):
        if not cursor.optional_bytes(tag)[0].any():
            break
