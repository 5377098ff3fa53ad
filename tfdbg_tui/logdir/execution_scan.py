"""Executions by the thousand: what kind each one is, from where, and which outputs are bad.

The records of a chunk are walked field by field, all at once.  Op type, number of outputs and
graph are interned together, the stack trace by itself: there are few of each.  The value vector of
every output is looked at.  A record that does not look as expected is left to the scalar decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.cursor import Cursor
from tfdbg_tui.logdir.full_tensor_scan import FullTensorScan
from tfdbg_tui.logdir.gather import Flags, Ints, words
from tfdbg_tui.logdir.interning import Interner
from tfdbg_tui.logdir.summaries import VECTOR_HEADS
from tfdbg_tui.logdir.vector_scan import bad_protos
from tfdbg_tui.wire import codec, tfrecord
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.recordfile import Chunk

    Decode = Callable[[int], "int | None"]

_UNKNOWN = -1
_MAX_OUTPUTS = 64  # of records with more, the scalar decoder reads all
_MAX_INPUTS = 16  # likewise; only those of ops with a bad output are recorded

# Tags of DebugEvent and of Execution.
_WALL_TIME = 1 << 3 | codec.FIXED64
_STEP = 2 << 3 | codec.VARINT
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


class ExecutionScan:
    """What the scan of one file has learned."""

    def __init__(self) -> None:
        self._heads = Interner()
        self._stacks = Interner()
        self._kind_of: dict[tuple[int, int], int] = {}
        self._stack_of: list[int] = []
        self._full_tensors = FullTensorScan()

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
        count = len(chunk)
        start = chunk.bounds[:-1] + tfrecord.HEADER_SIZE
        end = chunk.bounds[1:] - tfrecord.FOOTER_SIZE
        cursor = Cursor(chunk.data, start, end)
        cursor.skip_tag(_WALL_TIME)
        cursor.skip(8)
        cursor.optional_varint(_STEP)
        cursor.skip_tag(_EXECUTION)
        size = cursor.varint()
        cursor.ok &= cursor.position + size == end
        head = cursor.position
        cursor.optional_bytes(_OP_TYPE)
        cursor.optional_varint(_NUM_OUTPUTS)
        cursor.optional_bytes(_GRAPH_ID)
        head_size = cursor.position - head
        cursor.optional_bytes(_INPUT_IDS)
        cursor.optional_bytes(_OUTPUT_IDS)
        mode = cursor.optional_varint(_MODE)
        num_outputs, alert_rows, alert_slots = self._outputs(chunk, cursor, mode)
        _, location, location_size = cursor.optional_bytes(_CODE_LOCATION)
        cursor.optional_bytes(_DEVICE_IDS)
        has_serial, serial_at = cursor.optional_fixed(_SERIAL)
        cursor.optional_fixed(_THREAD)
        cursor.optional_tagged_bytes(_MINIMA)
        cursor.optional_tagged_bytes(_MAXIMA)
        self._skip_inputs(cursor)
        ok = cursor.ok & (cursor.position == end)

        found = ScannedExecutions(
            kinds=np.full(count, _UNKNOWN, np.int64),
            stacks=np.zeros(count, np.int64),
            serials=np.zeros(count, np.int64),
            num_outputs=num_outputs,
            alert_rows=alert_rows,
            alert_slots=alert_slots,
        )
        rows = np.flatnonzero(ok)
        heads = self._heads.numbers(chunk.data, head[rows], head_size[rows])
        found.kinds[rows] = self._kinds(heads, mode[rows], rows, decode)
        stacks = self._stacks.numbers(chunk.data, location[rows], location_size[rows])
        for code_location in self._stacks.strings[len(self._stack_of) :]:
            self._stack_of.append(number_stack(code_location))
        found.stacks[rows] = np.array(self._stack_of, np.int64)[stacks]
        if has_serial.any():
            some = np.flatnonzero(ok & has_serial)
            found.serials[some] = words(chunk.data)[serial_at[some]].view(np.int64)
        return found

    def _skip_inputs(self, cursor: Cursor) -> None:
        for _ in range(_MAX_INPUTS):
            if not cursor.optional_tagged_bytes(_INPUT_PROTO).any():
                break
        cursor.optional_tagged_bytes(_INPUT_MINIMA)
        cursor.optional_tagged_bytes(_INPUT_MAXIMA)

    def _kinds(self, heads: Ints, modes: Ints, rows: Ints, decode: Decode) -> Ints:
        pairs = heads << 32 | (modes & 0xFFFFFFFF)
        distinct, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        found = np.empty(len(distinct), np.int64)
        for i, (pair, at) in enumerate(zip(distinct.tolist(), first.tolist(), strict=True)):
            key = (pair >> 32, pair & 0xFFFFFFFF)
            if key not in self._kind_of:
                kind = decode(int(rows[at]))
                if kind is not None:
                    self._kind_of[key] = kind
            found[i] = self._kind_of.get(key, _UNKNOWN)
        kinds: Ints = found[inverse.reshape(-1)]
        return kinds

    def _outputs(self, chunk: Chunk, cursor: Cursor, mode: Ints) -> tuple[Ints, Ints, Ints]:
        """Walk the outputs; return (number in each record, rows and slots of the bad ones)."""
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
            bad, known = self._health(chunk, mode[rows], start, size)
            cursor.ok[rows] &= known
            found = rows[bad & known]
            alerts.append(np.array([found, np.full(len(found), slot)]))
            part = cursor.subset(rows)
        alert_rows, alert_slots = np.concatenate(alerts, axis=1)
        order = np.lexsort((alert_slots, alert_rows))
        return counts, alert_rows[order], alert_slots[order]

    def _health(self, chunk: Chunk, modes: Ints, starts: Ints, sizes: Ints) -> tuple[Flags, Flags]:
        """Return (which outputs are bad, which could be read)."""
        bad = np.zeros(len(starts), bool)
        known = (sizes == 0) | (modes == TensorDebugMode.NO_TENSOR)
        for mode in np.flatnonzero(np.bincount(np.clip(modes[~known], 0, 255))).tolist():
            some = np.flatnonzero(~known & (modes == mode))
            if mode == TensorDebugMode.FULL_TENSOR:
                bad[some], known[some] = self._full_tensors.bad(
                    chunk.data, starts[some], sizes[some]
                )
            elif mode in VECTOR_HEADS:
                bad[some], known[some] = bad_protos(chunk.data, mode, starts[some], sizes[some])
        return bad, known
