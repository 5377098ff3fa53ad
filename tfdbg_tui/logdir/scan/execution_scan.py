"""Executions by the thousand: what kind each one is, from where, and which outputs are bad.

The records of a chunk are walked field by field, all at once.  Op type, number of outputs and
graph are interned together, the stack trace by itself: there are few of each.  The value vector of
every output is looked at.  A record that does not look as expected is left to the scalar decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files.gather import words
from tfdbg_tui.logdir.scan.cursor import Cursor, into_events
from tfdbg_tui.logdir.scan.health_scan import HealthScan
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.logdir.scan.recognition import UNKNOWN, Recognition
from tfdbg_tui.wire import codec

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.gather import Flags, Ints
    from tfdbg_tui.logdir.scan.recognition import Decode

_MAX_OUTPUTS = 64  # of records with more, the scalar decoder reads all
_MAX_INPUTS = 16  # likewise; only those of ops with a bad output are recorded

# Tags of DebugEvent, then of Execution.
_EXECUTION = 9 << 3 | codec.BYTES
_OP_TYPE = 1 << 3 | codec.BYTES
_NUM_OUTPUTS = 2 << 3 | codec.VARINT
_GRAPH_ID = 3 << 3 | codec.BYTES
_INPUT_IDS = 4 << 3 | codec.BYTES
_OUTPUT_IDS = 5 << 3 | codec.BYTES
_MODE = 6 << 3 | codec.VARINT
_PROTO = 7 << 3 | codec.BYTES
_CODE_LOCATION = 8 << 3 | codec.BYTES
_DEVICE_IDS = 9 << 3 | codec.BYTES
# Extension fields: see `wire.events`.
_SERIAL = codec.tag(1000, codec.FIXED64)
_THREAD = codec.tag(1001, codec.FIXED32)
_MINIMA = codec.tag(1003, codec.BYTES)
_MAXIMA = codec.tag(1004, codec.BYTES)
_INPUT_PROTO = codec.tag(1005, codec.BYTES)
_INPUT_MINIMA = codec.tag(1006, codec.BYTES)
_INPUT_MAXIMA = codec.tag(1007, codec.BYTES)


@dataclass(slots=True)
class ScannedExecutions:
    """What a scan found; arrays over the records of a chunk.

    Attributes:
        kinds: Number of each record's kind; -1 where only the scalar decoder can read it.
        stacks: Number of each record's stack.
        serials: Serial of each record; 0 where it has none.
        num_outputs: Number of value vectors, and placeholders for them, in each record.
        alert_rows: Row of each bad output.
        alert_slots: Its place among the record's value vectors.
    """

    kinds: Ints
    stacks: Ints
    serials: Ints
    num_outputs: Ints
    alert_rows: Ints
    alert_slots: Ints


@dataclass(slots=True)
class _Outputs:
    """The outputs of the records of a chunk; see `ScannedExecutions`."""

    counts: Ints
    alert_rows: Ints
    alert_slots: Ints


@dataclass(slots=True)
class _Fields:
    """Where the fields of executions are in their chunk, and how long; each of shape [records]."""

    ok: Flags
    head: Ints
    head_size: Ints
    mode: Ints
    outputs: _Outputs
    code_location: Ints
    code_location_size: Ints
    has_serial: Flags
    serial: Ints


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
        count, data, fields = len(chunk), chunk.data, self._walk(chunk)
        kinds = np.full(count, UNKNOWN, np.int64)
        stacks, serials = np.zeros(count, np.int64), np.zeros(count, np.int64)
        rows = np.flatnonzero(fields.ok)
        heads = self._heads.numbers(data, fields.head[rows], fields.head_size[rows])
        kinds[rows] = self._kinds.recognise(heads, fields.mode[rows], rows, decode)
        found = self._stacks.numbers(
            data, fields.code_location[rows], fields.code_location_size[rows]
        )
        for code_location in self._stacks.strings[len(self._stack_of) :]:
            self._stack_of.append(number_stack(code_location))
        stacks[rows] = np.array(self._stack_of, np.int64)[found]
        if fields.has_serial.any():
            some = np.flatnonzero(fields.ok & fields.has_serial)
            serials[some] = words(data)[fields.serial[some]].view(np.int64)
        outputs = fields.outputs
        return ScannedExecutions(
            kinds, stacks, serials, outputs.counts, outputs.alert_rows, outputs.alert_slots
        )

    def _walk(self, chunk: Chunk) -> _Fields:
        cursor = into_events(chunk, np.arange(len(chunk)), _EXECUTION)
        head = cursor.position
        cursor.optional_bytes(_OP_TYPE)
        cursor.optional_varint(_NUM_OUTPUTS)
        cursor.optional_bytes(_GRAPH_ID)
        head_size = cursor.position - head
        cursor.optional_bytes(_INPUT_IDS)
        cursor.optional_bytes(_OUTPUT_IDS)
        mode = cursor.optional_varint(_MODE)
        outputs = self._outputs(chunk, cursor, mode)
        _, location, location_size = cursor.optional_bytes(_CODE_LOCATION)
        cursor.optional_bytes(_DEVICE_IDS)
        has_serial, serial = cursor.optional_fixed(_SERIAL)
        cursor.optional_fixed(_THREAD)
        cursor.optional_tagged_bytes(_MINIMA)
        cursor.optional_tagged_bytes(_MAXIMA)
        _skip_inputs(cursor)
        ok = cursor.ok & (cursor.position == cursor.end)
        return _Fields(
            ok, head, head_size, mode, outputs, location, location_size, has_serial, serial
        )

    def _outputs(self, chunk: Chunk, cursor: Cursor, mode: Ints) -> _Outputs:
        """Walk the outputs of all records, slot by slot."""
        rows = np.arange(len(chunk))
        counts = np.zeros(len(chunk), np.int64)
        part = cursor
        alerts = [np.zeros((2, 0), np.int64)]
        for slot in range(_MAX_OUTPUTS):
            has, start, size = part.optional_bytes(_PROTO)
            if part is not cursor:
                cursor.put(rows, part)
            if not has.any():
                break
            some = np.flatnonzero(has & part.ok)
            rows, start, size = rows[some], start[some], size[some]
            counts[rows] += 1
            bad, known = self._health.bad(chunk.data, mode[rows], start, size)
            cursor.ok[rows] &= known
            found = rows[bad & known]
            alerts.append(np.array([found, np.full(len(found), slot)]))
            part = cursor.subset(rows)
        alert_rows, alert_slots = np.concatenate(alerts, axis=1)
        order = np.lexsort((alert_slots, alert_rows))
        return _Outputs(counts, alert_rows[order], alert_slots[order])


def _skip_inputs(cursor: Cursor) -> None:
    for _ in range(_MAX_INPUTS):
        if not cursor.optional_tagged_bytes(_INPUT_PROTO).any():
            break
    cursor.optional_tagged_bytes(_INPUT_MINIMA)
    cursor.optional_tagged_bytes(_INPUT_MAXIMA)
