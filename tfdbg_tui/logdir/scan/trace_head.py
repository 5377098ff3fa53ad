"""Graph execution traces of any mode, recognised by how they begin.

The records are walked field by field, all at once; their beginning (graph, op, slot, mode) and
their device are interned.  Slower than `trace_tail`, and needs no value vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.scan.cursor import into_events
from tfdbg_tui.logdir.scan.health_scan import HealthScan
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.logdir.scan.recognition import Recognition
from tfdbg_tui.wire.events import DebugEvent, GraphExecutionTrace

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.gather import Flags, Ints
    from tfdbg_tui.logdir.scan.recognition import Decode

_TRACE = DebugEvent.tag("graph_execution_trace")
_CONTEXT_ID = GraphExecutionTrace.tag("tfdbg_context_id")
_OP_NAME = GraphExecutionTrace.tag("op_name")
_OUTPUT_SLOT = GraphExecutionTrace.tag("output_slot")
_MODE = GraphExecutionTrace.tag("tensor_debug_mode")
_PROTO = GraphExecutionTrace.tag("tensor_proto")
_DEVICE = GraphExecutionTrace.tag("device_name")
_EXTENSIONS = tuple(
    map(GraphExecutionTrace.tag, ("execution_serial", "iteration", "minimum_bits", "maximum_bits"))
)


class HeadScan:
    """Reads traces field by field, all at once, and knows their sites by how they begin."""

    def __init__(self) -> None:
        self._heads = Interner()
        self._devices = Interner()
        self._sites = Recognition()
        self._health = HealthScan()

    def scan(self, chunk: Chunk, rows: Ints, decode: Decode, sites: Ints, bad: Flags) -> None:
        """Note sites and bad records among `rows` of a chunk."""
        for skip_unknown in (False, True):
            if rows.size:
                rows = self._scan(chunk, rows, decode, sites, bad, skip_unknown=skip_unknown)

    def _scan(
        self,
        chunk: Chunk,
        rows: Ints,
        decode: Decode,
        sites: Ints,
        bad: Flags,
        *,
        skip_unknown: bool,
    ) -> Ints:
        """Do as `scan`, and return the rows whose fields are not as expected."""
        fields = _walk(chunk, rows, skip_unknown=skip_unknown)
        data, mine = chunk.data, np.flatnonzero(fields.ok)
        is_bad, known = self._health.bad(
            data, fields.mode[mine], fields.proto[mine], fields.proto_size[mine]
        )
        mine, is_bad = mine[known], is_bad[known]
        heads = self._heads.numbers(data, fields.head[mine], fields.head_size[mine])
        devices = self._devices.numbers(data, fields.device[mine], fields.device_size[mine])
        sites[rows[mine]] = self._sites.recognise(heads, devices, rows[mine], decode)
        bad[rows[mine]] = is_bad
        return rows[~fields.ok]


@dataclass(slots=True)
class _Fields:
    """Where the fields of some traces are in their chunk, and how long; each of shape [traces]."""

    ok: Flags
    head: Ints
    head_size: Ints
    mode: Ints
    proto: Ints
    proto_size: Ints
    device: Ints
    device_size: Ints


def _walk(chunk: Chunk, rows: Ints, *, skip_unknown: bool) -> _Fields:
    cursor, _ = into_events(chunk, rows, _TRACE, GraphExecutionTrace, skip_unknown=skip_unknown)
    head = cursor.position
    cursor.optional_bytes(_CONTEXT_ID)
    cursor.optional_bytes(_OP_NAME)
    cursor.optional_varint(_OUTPUT_SLOT)
    mode = cursor.optional_varint(_MODE)
    head_size = cursor.position - head
    _, proto, proto_size = cursor.optional_bytes(_PROTO)
    _, device, device_size = cursor.optional_bytes(_DEVICE)
    for tag in _EXTENSIONS:
        cursor.optional_fixed(tag)
    return _Fields(cursor.ends(), head, head_size, mode, proto, proto_size, device, device_size)
