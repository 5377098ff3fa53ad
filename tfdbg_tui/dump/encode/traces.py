"""Graph execution traces as bytes: one template a tensor, all values filled in at once by numpy.

The records of one tensor differ only in a few fields of fixed width, so a record is its template
with the holes filled.  CRC32C is linear over GF(2): the checksum of the filled record is that of
the template, exclusive-or one table entry for each byte filled in, which depends on the byte and
on its distance from the end only.  That makes it about a third of a microsecond a record.

Layout of the payload: wall time, step, GraphExecutionTrace with its fields in ascending order;
our extension fields last, so that the tail of all records of a tensor has one layout.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.wire import bad_elements, codec, crc32c, tfrecord
from tfdbg_tui.wire.events import (
    DebugEvent,
    Dim,
    GraphExecutionTrace,
    TensorProto,
    TensorShape,
    value_vector_head,
)
from tfdbg_tui.wire.modes import VALUE_VECTORS, TensorDebugMode
from tfdbg_tui.wire.repetitions import STEP_SIZE, step_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.encode.causes import Cause

_BYTES_AT_ONCE = 1 << 20
_FLOAT32 = 1  # DataType
_WALL_TIME_TAG = codec.varint(DebugEvent.tag("wall_time"))
_STEP_TAG = codec.varint(DebugEvent.tag("step"))
_TRACE_TAG = codec.varint(DebugEvent.tag("graph_execution_trace"))
_PROTO_TAG = codec.varint(GraphExecutionTrace.tag("tensor_proto"))
_SHAPE_TAG = codec.varint(TensorProto.tag("tensor_shape"))
_EXTREMES = ("minimum_bits", "maximum_bits")
_NO_BAD_ELEMENTS = GraphExecutionTrace.field("bad_elements", [0.0] * bad_elements.WIDTH)

UInt8Array = npt.NDArray[np.uint8]
UInt32Array = npt.NDArray[np.uint32]
Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Site:
    """A tensor of a graph whose values are recorded."""

    graph_id: str
    op_name: str
    slot: int
    device: str


class _CrcTables:
    """``tables[d][v]``: what a byte `v` that has `d` bytes after it adds to a CRC32C."""

    def __init__(self) -> None:
        self._byte = np.array(crc32c.TABLE, np.uint32)
        self.tables = self._byte[None, :].copy()

    def upto(self, distance: int) -> npt.NDArray[np.uint32]:
        if len(self.tables) <= distance:
            rows = [self.tables[-1]]
            for _ in range(distance + 256 - len(self.tables)):
                rows.append(self._byte[rows[-1] & 0xFF] ^ (rows[-1] >> 8))
            self.tables = np.vstack([self.tables, *(row[None, :] for row in rows[1:])])
        return self.tables


_crc = _CrcTables()


def tensor_proto_head(vector_length: int) -> bytes:
    """Return a TensorProto of `vector_length` doubles up to the content itself."""
    if not vector_length:  # NO_TENSOR: an empty float32 tensor, as TensorFlow writes.
        return TensorProto(_FLOAT32, TensorShape([b""])).encode()
    return value_vector_head(vector_length)


class TraceTemplates:
    """The templates of the sites that are recorded together, in one mode.

    Args:
        sites: The tensors.
        mode: Mode of the records; decides the length of the value vectors.
        stepped: Whether records carry a step.
        iterated: Whether records carry the iteration of a While loop.
        extremes: Whether records carry the smallest and largest finite element.
        located: Whether they carry the shape, and where the first bad elements are.
    """

    def __init__(
        self,
        sites: list[Site],
        mode: TensorDebugMode,
        *,
        stepped: bool,
        iterated: bool,
        extremes: bool,
        located: bool = False,
    ) -> None:
        self.length = len(VALUE_VECTORS.get(mode, ()))
        self.stepped, self.iterated, self._extremes = stepped, iterated, extremes
        self._located = located
        records, bounds = [], [0]
        values: list[list[int]] = []
        extensions: list[list[int]] = []
        stamps: list[list[int]] = []
        counters: list[list[int]] = []
        for site in sites:
            record, *holes = self._template(site, mode)
            for hole, into in zip(holes, (values, extensions, stamps, counters), strict=True):
                into.append([bounds[-1] + offset for offset in hole])
            records.append(record)
            bounds.append(bounds[-1] + len(record))
        self._bounds = bounds
        ends = np.array(bounds[1:], np.int64) - tfrecord.FOOTER_SIZE
        self.crc_places = ends[:, None] + np.arange(4)
        self._values = _Holes(values, ends)
        self.extensions = _Holes(extensions, ends)
        self.stamps = _Holes(stamps, ends)
        self.counters = _Holes(counters, ends)
        self._blob = np.frombuffer(b"".join(records), np.uint8)
        self._crcs = np.array(
            [crc32c.crc32c(r[tfrecord.HEADER_SIZE : -tfrecord.FOOTER_SIZE]) for r in records],
            np.uint32,
        )

    def _template(
        self, site: Site, mode: TensorDebugMode
    ) -> tuple[bytes, list[int], list[int], list[int], list[int]]:
        """Return a framed record with zeros in its holes.

        Also the offsets of the bytes that depend on the value vector, on the extremes and bad
        elements, on the execution, and on the iteration of the loop.
        """
        content = bytes(8 * self.length)
        head = tensor_proto_head(self.length)
        before = GraphExecutionTrace.field("tfdbg_context_id", site.graph_id)
        before += GraphExecutionTrace.field("op_name", site.op_name)
        before += GraphExecutionTrace.field("output_slot", site.slot) if site.slot else b""
        before += GraphExecutionTrace.field("tensor_debug_mode", mode)
        before += _PROTO_TAG + codec.varint(len(head) + len(content)) + head
        after = GraphExecutionTrace.field("device_name", site.device)
        serial = GraphExecutionTrace.field("execution_serial", 0)
        iteration = GraphExecutionTrace.field("iteration", 0) if self.iterated else b""
        extremes = [
            GraphExecutionTrace.field(name, 0) for name in (_EXTREMES if self._extremes else ())
        ]
        bad = _NO_BAD_ELEMENTS if self._located else b""
        trace = before + content + after + serial + iteration + b"".join(extremes) + bad
        step = _STEP_TAG + bytes(STEP_SIZE) if self.stepped else b""
        prefix = _WALL_TIME_TAG + bytes(8) + step
        prefix += _TRACE_TAG + codec.varint(len(trace))
        payload = prefix + trace
        at = tfrecord.HEADER_SIZE
        stamps = list(range(at + 1, at + 9))
        if self.stepped:
            stamps += range(at + 10, at + 10 + STEP_SIZE)
        at += len(prefix) + len(before)
        values = list(range(at, at + len(content)))
        at += len(content) + len(after)
        extensions: list[int] = []
        counters: list[int] = []
        for field, width, holes in (
            (serial, 8, stamps),
            (iteration, 4, counters),
            *((extreme, 8, extensions) for extreme in extremes),
            (bad, 8 * bad_elements.WIDTH, extensions),
        ):
            if field:
                at += len(field)
                holes += range(at - width, at)
        length = struct.pack("<Q", len(payload))
        frame = length + struct.pack("<I", crc32c.masked_crc32c(length))
        return frame + payload + bytes(4), values, extensions, stamps, counters

    def split(self, records: bytes) -> list[bytes]:
        """Return the single records in what `FilledTemplates.stamped` returned."""
        return [records[a:b] for a, b in itertools.pairwise(self._bounds)]

    def filled(self, vectors: npt.NDArray[np.float64]) -> FilledTemplates:
        """Return the records with their value vectors, as often as they are the same.

        Args:
            vectors: ``[..., sites, length of the mode's vector]``.
        """
        blob, crcs = self._values.filled(self._blob, self._crcs, vectors)
        return FilledTemplates(self, blob, crcs)


class FilledTemplates:
    """Records that lack only what differs in each execution.

    Attributes:
        templates: What they are made of.

    Args:
        templates: What they are made of.
        blob: The bytes of all records, with the values; of each of some executions, if these have
            their own.
        crcs: The checksum of each, as far as it is known.
    """

    def __init__(self, templates: TraceTemplates, blob: UInt8Array, crcs: UInt32Array) -> None:
        self.templates = templates
        self._blob = blob
        self._crcs = crcs

    def extended(self, extensions: npt.NDArray[np.float64]) -> FilledTemplates:
        """Return the records with what they carry besides a value vector.

        Args:
            extensions: Smallest and largest finite elements, and what is told of bad ones, as far
                as records carry them: ``[..., sites, numbers]``.
        """
        holes = self.templates.extensions
        return FilledTemplates(self.templates, *holes.filled(self._blob, self._crcs, extensions))

    def stamped(
        self, causes: Sequence[Cause], caused: Int64Array, iterations: Int64Array
    ) -> list[bytes]:
        """Return the framed records of executions of the sites.

        Args:
            causes: What causes them; the step is ignored unless the templates carry one.
            caused: Which of the causes each execution has.
            iterations: Iteration of the loop in each; ignored unless the templates carry one.
        """
        counters = (iterations & 0xFFFFFFFF).astype("<u4")
        at_once = max(1, _BYTES_AT_ONCE // max(1, len(self._blob)))
        starts = range(0, len(caused), at_once)
        return [
            records
            for part in (slice(start, start + at_once) for start in starts)
            for records in self._stamped(causes, caused[part], counters[part])
        ]

    def _stamped(
        self, causes: Sequence[Cause], caused: Int64Array, counters: UInt32Array
    ) -> list[bytes]:
        templates = self.templates
        stamps, which = self._stamps(causes, caused)
        blobs = np.tile(self._blob, (len(stamps), 1))
        blobs[:, templates.stamps.places] = stamps[:, None, :]
        crcs = self._crcs ^ templates.stamps.crc_changes(stamps)
        if templates.iterated:
            fields = counters[:, None].view(np.uint8)
            blobs = blobs[which]
            blobs[:, templates.counters.places] = fields[:, None, :]
            crcs = crcs[which] ^ templates.counters.crc_changes(fields)
            return _as_bytes(_checked(blobs, crcs, templates.crc_places))
        filled = _as_bytes(_checked(blobs, crcs, templates.crc_places))
        return [filled[number] for number in which.tolist()]

    def stamped_each(
        self, causes: Sequence[Cause], caused: Int64Array, iterations: Int64Array
    ) -> list[bytes]:
        """See `stamped`: return the records of executions that have their own values."""
        templates, blobs = self.templates, self._blob
        stamps, which = self._stamps(causes, caused)
        blobs[:, templates.stamps.places] = stamps[which, None, :]
        crcs = self._crcs ^ templates.stamps.crc_changes(stamps)[which]
        if templates.iterated:
            fields = (iterations & 0xFFFFFFFF).astype("<u4")[:, None].view(np.uint8)
            blobs[:, templates.counters.places] = fields[:, None, :]
            crcs ^= templates.counters.crc_changes(fields)
        return _as_bytes(_checked(blobs, crcs, templates.crc_places))

    def _stamps(self, causes: Sequence[Cause], caused: Int64Array) -> tuple[UInt8Array, Int64Array]:
        """Return the bytes that depend on the causes, and which of them each execution has."""
        numbers, which = np.unique(caused, return_inverse=True)
        return np.array([self._stamp(causes[number]) for number in numbers.tolist()]), which

    def _stamp(self, cause: Cause) -> UInt8Array:
        """Return the bytes that depend on the cause."""
        step = step_bytes(cause.step or 0) if self.templates.stepped else b""
        stamp = struct.pack("<d", cause.wall_time) + step + struct.pack("<Q", cause.serial)
        return np.frombuffer(stamp, np.uint8)


def _checked(blobs: UInt8Array, crcs: UInt32Array, places: npt.NDArray[np.int64]) -> UInt8Array:
    """Return records with their checksums filled in: ``[..., bytes]``, ``[..., records]``."""
    masked = ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(0xA282EAD8)
    blobs[..., places] = masked.astype("<u4")[..., None].view(np.uint8)
    return blobs


def _as_bytes(blobs: UInt8Array) -> list[bytes]:
    """Return each row, twice as fast as by its own `tobytes`."""
    rows: list[bytes] = blobs.view(f"V{blobs.shape[1]}")[:, 0].tolist()
    return rows


class _Holes:
    """Bytes to be filled into each of some records, which are zero so far.

    Args:
        places: Where they are, ``[records, bytes]``.
        ends: Where the checksummed part of each record ends.
    """

    def __init__(self, places: list[list[int]], ends: npt.NDArray[np.int64]) -> None:
        self.places = np.array(places, np.int64)
        # Records of the same length have the same layout, so most share a row.
        distances, layouts = np.unique(ends[:, None] - self.places - 1, axis=0, return_inverse=True)
        self._layouts = layouts.reshape(-1)
        self._distances = distances
        _crc.upto(int(distances.max(initial=0)))

    def filled(
        self, blob: UInt8Array, crcs: UInt32Array, numbers: npt.NDArray[np.float64]
    ) -> tuple[UInt8Array, UInt32Array]:
        """Return records with numbers in the holes, and the CRC32C of each.

        Args:
            blob: The records, ``[..., bytes]``.
            crcs: The CRC32C of each.
            numbers: Those of each, ``[..., records, numbers]``.
        """
        *executions, records, _ = numbers.shape
        data = np.ascontiguousarray(numbers, "<f8").view(np.uint8).reshape(*executions, records, -1)
        filled = np.empty((*executions, blob.shape[-1]), np.uint8)
        filled[:] = blob
        filled[..., self.places] = data
        return filled, crcs ^ self._crc_changes_each(data)

    def crc_changes(self, data: UInt8Array) -> UInt32Array:
        """Return what the same bytes in each record do to its CRC32C.

        Args:
            data: ``[..., bytes]``.

        Returns:
            ``[..., records]``.
        """
        # A zero byte's table entry is zero, so the zeros that were there cancel out.
        changes = np.bitwise_xor.reduce(_crc.tables[self._distances, data[..., None, :]], axis=-1)
        return np.asarray(changes[..., self._layouts], np.uint32)

    def _crc_changes_each(self, data: UInt8Array) -> UInt32Array:
        """Return what bytes do to the CRC32C of each record.

        Args:
            data: ``[..., records, bytes]``.
        """
        distances = self._distances[self._layouts]
        return np.asarray(np.bitwise_xor.reduce(_crc.tables[distances, data], axis=-1), np.uint32)


def tensor_content_proto(dtype: int, array: Any) -> bytes:
    """Return a whole tensor as a serialized TensorProto.

    Args:
        dtype: DataType number.
        array: The elements; bytes objects for a string tensor.
    """
    dims = b"".join(TensorShape.field("dims", [Dim.field("size", n)]) for n in array.shape)
    head = TensorProto.field("dtype", dtype) + _SHAPE_TAG + codec.varint(len(dims)) + dims
    if array.dtype.kind in "OSU":
        return head + TensorProto.field("string_val", [bytes(item) for item in array.reshape(-1)])
    return head + TensorProto.field("tensor_content", np.ascontiguousarray(array).tobytes())


def whole_tensor_payload(
    cause: Cause, site: Site, iteration: int | None, tensor_proto: bytes
) -> bytes:
    """Return the payload of a FULL_TENSOR trace.

    Args:
        cause: What caused the execution.
        site: The tensor and its device, serialized.
        iteration: Of the innermost loop; None outside of loops.
        tensor_proto: The tensor, serialized.
    """
    trace = GraphExecutionTrace.field("tfdbg_context_id", site.graph_id)
    trace += GraphExecutionTrace.field("op_name", site.op_name)
    trace += GraphExecutionTrace.field("output_slot", site.slot) if site.slot else b""
    trace += GraphExecutionTrace.field("tensor_debug_mode", TensorDebugMode.FULL_TENSOR)
    trace += GraphExecutionTrace.field("tensor_proto", tensor_proto) + GraphExecutionTrace.field(
        "device_name", site.device
    )
    trace += GraphExecutionTrace.field("execution_serial", cause.serial)
    if iteration is not None:
        trace += GraphExecutionTrace.field("iteration", iteration & 0xFFFFFFFF)
    head = DebugEvent.field("wall_time", cause.wall_time)
    head += DebugEvent.field("step", cause.step) if cause.step is not None else b""
    return head + DebugEvent.field("graph_execution_trace", trace)
