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
from tfdbg_tui.wire import codec

if TYPE_CHECKING:
    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.files.gather import Flags, Ints
    from tfdbg_tui.logdir.scan.recognition import Decode

# Tag of DebugEvent.
_TRACE = 10 << 3 | codec.BYTES
# Tags of GraphExecutionTrace.
_CONTEXT_ID = 1 << 3 | codec.BYTES
_OP_NAME = 2 << 3 | codec.BYTES
_OUTPUT_SLOT = 3 << 3 | codec.VARINT
_MODE = 4 << 3 | codec.VARINT
_PROTO = 5 << 3 | codec.BYTES
_DEVICE = 6 << 3 | codec.BYTES
# Extension fields, in the order of their numbers: see `wire.events`.
_EXTENSIONS = (
    codec.tag(1000, codec.FIXED64),
    codec.tag(1001, codec.FIXED32),
    codec.tag(1002, codec.FIXED64),
    codec.tag(1003, codec.FIXED64),
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
        if not rows.size:
            return
        fields = _walk(chunk, rows)
        data, mine = chunk.data, np.flatnonzero(fields.ok)
        is_bad, known = self._health.bad(
            data, fields.mode[mine], fields.proto[mine], fields.proto_size[mine]
        )
        mine, is_bad = mine[known], is_bad[known]
        heads = self._heads.numbers(data, fields.head[mine], fields.head_size[mine])
        devices = self._devices.numbers(data, fields.device[mine], fields.device_size[mine])
        sites[rows[mine]] = self._sites.recognise(heads, devices, rows[mine], decode)
        bad[rows[mine]] = is_bad


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


def _walk(chunk: Chunk, rows: Ints) -> _Fields:
    cursor = into_events(chunk, rows, _TRACE)
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
    ok = cursor.ok & (cursor.position == cursor.end)
    return _Fields(ok, head, head_size, mode, proto, proto_size, device, device_size)
