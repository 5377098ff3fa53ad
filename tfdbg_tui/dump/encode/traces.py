"""Graph execution traces as bytes: one template a tensor, all values filled in at once by numpy.

The records of one tensor differ only in a few fields of fixed width, so a record is its template
with the holes filled, and so is its checksum (`holes`).  That makes it about a third of a
microsecond a record.

Layout of the payload: wall time, step, GraphExecutionTrace with its fields in ascending order;
our extension fields last, so that the tail of all records of a tensor has one layout.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode.holes import Holes, with_checksums
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
    from tfdbg_tui.dump.encode.holes import UInt8Array, UInt32Array

_BYTES_AT_ONCE = 1 << 20
_FLOAT32 = 1  # DataType
_WALL_TIME_TAG = codec.varint(DebugEvent.tag("wall_time"))
_STEP_TAG = codec.varint(DebugEvent.tag("step"))
_TRACE_TAG = codec.varint(DebugEvent.tag("graph_execution_trace"))
_PROTO_TAG = codec.varint(GraphExecutionTrace.tag("tensor_proto"))
_SHAPE_TAG = codec.varint(TensorProto.tag("tensor_shape"))
_EXTREMES = ("minimum_bits", "maximum_bits")
_NO_BAD_ELEMENTS = GraphExecutionTrace.field("bad_elements", [0.0] * bad_elements.WIDTH)

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Site:
    """A tensor of a graph whose values are recorded."""

    graph_id: str
    op_name: str
    slot: int
    device: str


def tensor_proto_head(vector_length: int) -> bytes:
    """Return a TensorProto of `vector_length` doubles up to the content itself."""
    if not vector_length:  # NO_TENSOR: an empty float32 tensor, as TensorFlow writes.
        return TensorProto(_FLOAT32, TensorShape([b""])).encode()
    return value_vector_head(vector_length)


class _Hole(IntEnum):
    """What the bytes depend on that are filled into a record."""

    VALUES = 0  # the value vector
    EXTENSIONS = 1  # extremes and bad elements
    STAMPS = 2  # the execution: wall time, step, serial
    COUNTERS = 3  # the iteration of the loop


class _Part(NamedTuple):
    """Some bytes of a record.

    Attributes:
        data: The bytes.
        width: How many of them, the last ones, are to be filled in.
        hole: What these depend on.
    """

    data: bytes
    width: int = 0
    hole: _Hole = _Hole.VALUES


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
        places: tuple[list[list[int]], ...] = ([], [], [], [])
        for site in sites:
            record, offsets = self._template(site, mode)
            for hole in _Hole:
                places[hole].append([bounds[-1] + offset for offset in offsets[hole]])
            records.append(record)
            bounds.append(bounds[-1] + len(record))
        self._bounds = bounds
        ends = np.array(bounds[1:], np.int64) - tfrecord.FOOTER_SIZE
        self.crc_places = ends[:, None] + np.arange(4)
        self._values = Holes(places[_Hole.VALUES], ends)
        self.extensions = Holes(places[_Hole.EXTENSIONS], ends)
        self.stamps = Holes(places[_Hole.STAMPS], ends)
        self.counters = Holes(places[_Hole.COUNTERS], ends)
        self._blob = np.frombuffer(b"".join(records), np.uint8)
        self._crcs = np.array(
            [crc32c.crc32c(r[tfrecord.HEADER_SIZE : -tfrecord.FOOTER_SIZE]) for r in records],
            np.uint32,
        )

    def _template(self, site: Site, mode: TensorDebugMode) -> tuple[bytes, list[list[int]]]:
        """Return a framed record with zeros in its holes, and their offsets by kind of hole."""
        trace = self._trace(site, mode)
        step = [_Part(_STEP_TAG + bytes(STEP_SIZE), STEP_SIZE, _Hole.STAMPS)]
        parts = [
            _Part(_WALL_TIME_TAG + bytes(8), 8, _Hole.STAMPS),
            *(step if self.stepped else ()),
            _Part(_TRACE_TAG + codec.varint(sum(len(part.data) for part in trace))),
            *trace,
        ]
        offsets: list[list[int]] = [[] for _ in _Hole]
        at = tfrecord.HEADER_SIZE
        for data, width, hole in parts:
            at += len(data)
            offsets[hole] += range(at - width, at)
        payload = b"".join(part.data for part in parts)
        length = struct.pack("<Q", len(payload))
        frame = length + struct.pack("<I", crc32c.masked_crc32c(length))
        return frame + payload + bytes(4), offsets

    def _trace(self, site: Site, mode: TensorDebugMode) -> list[_Part]:
        """Return the fields of a GraphExecutionTrace, in the order of their numbers."""
        field = GraphExecutionTrace.field
        head, width = tensor_proto_head(self.length), 8 * self.length
        proto = _PROTO_TAG + codec.varint(len(head) + width) + head + bytes(width)
        parts = [
            _Part(_site_fields(site, mode)),
            _Part(proto, width, _Hole.VALUES),
            _Part(field("device_name", site.device)),
            _Part(field("execution_serial", 0), 8, _Hole.STAMPS),
        ]
        if self.iterated:
            parts.append(_Part(field("iteration", 0), 4, _Hole.COUNTERS))
        if self._extremes:
            parts += [_Part(field(name, 0), 8, _Hole.EXTENSIONS) for name in _EXTREMES]
        if self._located:
            parts.append(_Part(_NO_BAD_ELEMENTS, 8 * bad_elements.WIDTH, _Hole.EXTENSIONS))
        return parts

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
            return _as_bytes(with_checksums(blobs, crcs, templates.crc_places))
        filled = _as_bytes(with_checksums(blobs, crcs, templates.crc_places))
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
        return _as_bytes(with_checksums(blobs, crcs, templates.crc_places))

    def _stamps(self, causes: Sequence[Cause], caused: Int64Array) -> tuple[UInt8Array, Int64Array]:
        """Return the bytes that depend on the causes, and which of them each execution has."""
        numbers, which = np.unique(caused, return_inverse=True)
        return np.array([self._stamp(causes[number]) for number in numbers.tolist()]), which

    def _stamp(self, cause: Cause) -> UInt8Array:
        """Return the bytes that depend on the cause."""
        step = step_bytes(cause.step or 0) if self.templates.stepped else b""
        stamp = struct.pack("<d", cause.wall_time) + step + struct.pack("<Q", cause.serial)
        return np.frombuffer(stamp, np.uint8)


def _as_bytes(blobs: UInt8Array) -> list[bytes]:
    """Return each row, twice as fast as by its own `tobytes`."""
    rows: list[bytes] = blobs.view(f"V{blobs.shape[1]}")[:, 0].tolist()
    return rows


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
    trace = _site_fields(site, TensorDebugMode.FULL_TENSOR)
    trace += GraphExecutionTrace.field("tensor_proto", tensor_proto)
    trace += GraphExecutionTrace.field("device_name", site.device)
    trace += GraphExecutionTrace.field("execution_serial", cause.serial)
    if iteration is not None:
        trace += GraphExecutionTrace.field("iteration", iteration & 0xFFFFFFFF)
    head = DebugEvent.field("wall_time", cause.wall_time)
    head += DebugEvent.field("step", cause.step) if cause.step is not None else b""
    return head + DebugEvent.field("graph_execution_trace", trace)


def _site_fields(site: Site, mode: TensorDebugMode) -> bytes:
    """Return the fields of a GraphExecutionTrace that stand before the tensor."""
    fields = GraphExecutionTrace.field("tfdbg_context_id", site.graph_id)
    fields += GraphExecutionTrace.field("op_name", site.op_name)
    fields += GraphExecutionTrace.field("output_slot", site.slot) if site.slot else b""
    return fields + GraphExecutionTrace.field("tensor_debug_mode", mode)
