"""Graph execution traces of any mode, recognised by how they begin.

The records are walked field by field, all at once; their beginning (graph, op, slot, mode) and
their device are interned.  Slower than `trace_tail`, and needs no value vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files.gather import words
from tfdbg_tui.logdir.scan.cursor import into_events
from tfdbg_tui.logdir.scan.health_scan import HealthScan, largest_magnitudes
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.logdir.scan.recognition import Recognition
from tfdbg_tui.wire.events import DebugEvent, GraphExecutionTrace
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.gather import Bytes, Flags, Ints
    from tfdbg_tui.logdir.scan.recognition import Decode
    from tfdbg_tui.logdir.scan.scanned_traces import ScannedTraces

_TRACE = DebugEvent.tag("graph_execution_trace")
_CONTEXT_ID = GraphExecutionTrace.tag("tfdbg_context_id")
_OP_NAME = GraphExecutionTrace.tag("op_name")
_OUTPUT_SLOT = GraphExecutionTrace.tag("output_slot")
_MODE = GraphExecutionTrace.tag("tensor_debug_mode")
_PROTO = GraphExecutionTrace.tag("tensor_proto")
_DEVICE = GraphExecutionTrace.tag("device_name")
_SERIAL = GraphExecutionTrace.tag("execution_serial")
_ITERATION = GraphExecutionTrace.tag("iteration")
_MINIMUM = GraphExecutionTrace.tag("minimum_bits")
_MAXIMUM = GraphExecutionTrace.tag("maximum_bits")
_BAD_ELEMENTS = GraphExecutionTrace.tag("bad_elements")


class HeadScan:
    """Reads traces field by field, all at once, and knows their sites by how they begin."""

    def __init__(self) -> None:
        self._heads = Interner()
        self._devices = Interner()
        self._sites = Recognition()
        self._health = HealthScan()

    def scan(self, chunk: Chunk, rows: Ints, decode: Decode, found: ScannedTraces) -> None:
        """Note what some rows of a chunk hold.

        Args:
            chunk: A part of the file.
            rows: Which of its records.
            decode: Reads one record by itself.
            found: Where what is found goes.
        """
        for skip_unknown in (False, True):
            if rows.size:
                rows = self._scan(chunk, rows, decode, found, skip_unknown=skip_unknown)

    def _scan(
        self,
        chunk: Chunk,
        rows: Ints,
        decode: Decode,
        found: ScannedTraces,
        *,
        skip_unknown: bool,
    ) -> Ints:
        """Do as `scan`, and return the rows whose fields are not as expected."""
        bounds = chunk.payload_bounds(rows)
        fields = walk_traces(chunk.data, bounds, skip_unknown=skip_unknown)
        data, mine = chunk.data, np.flatnonzero(fields.ok)
        is_bad, largest, known = self._health.look(
            data, fields.mode[mine], fields.proto[mine], fields.proto_size[mine]
        )
        mine, is_bad = mine[known], is_bad[known]
        heads = self._heads.numbers(data, fields.head[mine], fields.head_size[mine])
        devices = self._devices.numbers(data, fields.device[mine], fields.device_size[mine])
        found.sites[rows[mine]] = self._sites.recognise(heads, devices, rows[mine], decode)
        found.bad[rows[mine]], found.largest[rows[mine]] = is_bad, largest[known]
        numbers = words(data)
        has_both = fields.has_minimum & fields.has_maximum
        is_whole = fields.mode == TensorDebugMode.FULL_TENSOR
        measured = np.flatnonzero(fields.ok & has_both & ~is_whole)
        found.largest[rows[measured]] = largest_magnitudes(
            numbers[fields.minimum[measured]].view(np.float64),
            numbers[fields.maximum[measured]].view(np.float64),
        )
        numbered = np.flatnonzero(fields.has_serial & np.isfinite(found.largest[rows]))
        found.serials[rows[numbered]] = numbers[fields.serial[numbered]].view(np.int64)
        return rows[~fields.ok]


@dataclass(slots=True)
class TraceFields:
    """Where the fields of some traces are in a buffer, and how long; each of shape [traces].

    Attributes:
        ok: Which traces have the fields that are expected; of others nothing else counts.
        step: Training step; -1 where there is none.
        head: Where graph, op, slot and mode begin, which tell a site.
        head_size: How many bytes they are.
        mode: Tensor debug mode.
        proto: Where the serialized TensorProto is.
        proto_size: How many bytes it is.
        device: Where the name of the device is.
        device_size: How many bytes it is.
        has_serial: Whether there is a serial of the execution.
        serial: Where its eight bytes are.
        has_minimum: Whether there is a smallest element.
        minimum: Where the eight bytes of that double are.
        has_maximum: Whether there is a largest element.
        maximum: Where the eight bytes of that double are.
    """

    ok: Flags
    step: Ints
    head: Ints
    head_size: Ints
    mode: Ints
    proto: Ints
    proto_size: Ints
    device: Ints
    device_size: Ints
    has_serial: Flags
    serial: Ints
    has_minimum: Flags
    minimum: Ints
    has_maximum: Flags
    maximum: Ints


def walk_traces(data: Bytes, bounds: tuple[Ints, Ints], *, skip_unknown: bool) -> TraceFields:
    """Return where the fields of some traces are.

    Args:
        data: A buffer.
        bounds: Where in it the payloads of their records start and end.
        skip_unknown: Whether fields that are not declared are skipped, which takes time.
    """
    cursor, step = into_events(data, bounds, _TRACE, GraphExecutionTrace, skip_unknown=skip_unknown)
    head = cursor.position
    cursor.optional_bytes(_CONTEXT_ID)
    cursor.optional_bytes(_OP_NAME)
    cursor.optional_varint(_OUTPUT_SLOT)
    mode = cursor.optional_varint(_MODE)
    head_size = cursor.position - head
    _, proto, proto_size = cursor.optional_bytes(_PROTO)
    _, device, device_size = cursor.optional_bytes(_DEVICE)
    has_serial, serial = cursor.optional_fixed(_SERIAL)
    cursor.optional_fixed(_ITERATION)
    has_minimum, minimum = cursor.optional_fixed(_MINIMUM)
    has_maximum, maximum = cursor.optional_fixed(_MAXIMUM)
    cursor.optional_bytes(_BAD_ELEMENTS)
    return TraceFields(
        cursor.ends(),
        step,
        head,
        head_size,
        mode,
        proto,
        proto_size,
        device,
        device_size,
        has_serial,
        serial,
        has_minimum,
        minimum,
        has_maximum,
        maximum,
    )
