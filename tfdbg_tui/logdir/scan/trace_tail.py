"""Graph execution traces with a value vector, recognised by how they end.

Such a trace need not be read from its beginning.  Its end has a fixed layout:

    ... op name, slot, mode | head of the TensorProto | value vector | device, extension fields

and the first number of the vector is the tensor's id, unique in a file set.  So one block is
gathered from the end of each record, its fixed bytes are compared with those of a `TailLayout`
learned from a record that the scalar decoder has read, and the id leads to the site, whose record
length and preceding bytes must agree too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.files.gather import Flags, Ints, Words, blocks, column, columns
from tfdbg_tui.logdir.scan.health_scan import bad_kinds, largest_magnitudes
from tfdbg_tui.logdir.scan.recognition import UNKNOWN
from tfdbg_tui.logdir.values.summaries import VECTOR_HEADS
from tfdbg_tui.wire import codec
from tfdbg_tui.wire.events import DebugEvent, GraphExecutionTrace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfdbg_tui.logdir.files.chunk import Chunk
    from tfdbg_tui.logdir.scan.recognition import Decode
    from tfdbg_tui.logdir.scan.scanned_traces import ScannedTraces
    from tfdbg_tui.wire.message import Message

_MAX_TENSOR_ID = 1 << 22
_CHECK = 16  # bytes before the TensorProto that must be those of the site

_TRACE = DebugEvent.tag("graph_execution_trace")
_MODE = GraphExecutionTrace.tag("tensor_debug_mode")
_PROTO = GraphExecutionTrace.tag("tensor_proto")
_DEVICE = GraphExecutionTrace.tag("device_name")
_SERIAL = GraphExecutionTrace.tag("execution_serial")
_MINIMUM = GraphExecutionTrace.tag("minimum_bits")
_MAXIMUM = GraphExecutionTrace.tag("maximum_bits")


class TailLayout:
    """The end of a trace's record, from 16 bytes before its TensorProto.

    Attributes:
        hits: Number of records found to have it.
    """

    def __init__(self, mode: int, tail: bytes, fixed: bytes, numbers: Mapping[int, int]) -> None:
        """Make a layout.

        Args:
            mode: A tensor debug mode that has value vectors.
            tail: The last bytes of a payload that has the layout.
            fixed: 255 for each byte of `tail` that all such payloads share, 0 for others.
            numbers: Where in `tail` the fields of fixed width are, by their tags.
        """
        self.hits = 0
        self._mode = mode
        self._size = -(-len(tail) // 8) * 8
        self._shift = self._size - len(tail)  # bytes before those of interest, to fill a word
        self._key = (mode, bytes(a & b for a, b in zip(tail, fixed, strict=True)), fixed)
        head = VECTOR_HEADS[mode]
        self._vector = (self._shift + _CHECK + len(head), head[-1] // 8)
        self._numbers = {tag: self._shift + place for tag, place in numbers.items()}
        padding = bytes(self._shift)
        expected = np.frombuffer(padding + tail, "<u8")
        mask = np.frombuffer(padding + fixed, "<u8")
        self._words = [
            (place * 8, word & m, m)
            for place, (word, m) in enumerate(zip(expected, mask, strict=True))
            if m
        ]
        self._slots = np.full(1024, UNKNOWN, np.int32)  # by tensor id
        self._sites = np.zeros(0, np.int64)
        self._checks = np.zeros((0, 2), np.uint64)
        self._lengths = np.zeros(0, np.int64)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TailLayout) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @classmethod
    def of(cls, payload: bytes) -> TailLayout | None:
        """Return the layout of a payload, or None where it has no such tail."""
        try:
            return cls._of(payload)
        except (ValueError, IndexError):
            return None

    @classmethod
    def _of(cls, payload: bytes) -> TailLayout | None:
        event = list(codec.spans(payload))
        trace = [tag for tag, _, _ in event].index(_TRACE)
        _, start, end = event[trace]
        fields = [(tag, start + a, start + b) for tag, a, b in codec.spans(payload[start:end])]
        place = [tag for tag, _, _ in fields].index(_PROTO)
        (mode_tag, mode_at, _), (_, proto_at, proto_end) = fields[place - 1 : place + 1]
        head = VECTOR_HEADS.get(payload[mode_at])
        if mode_tag != _MODE or head is None or not payload.startswith(head, proto_at):
            return None
        if proto_at != mode_at + 3:  # the tag and length of the TensorProto are a byte each
            return None
        vector_at = proto_at + len(head)
        if vector_at + head[-1] != proto_end or proto_at < start + _CHECK:
            return None
        fixed = bytearray(b"\xff" * len(payload))
        fixed[: proto_at - 4] = bytes(proto_at - 4)  # up to the mode and the TensorProto's length
        fixed[vector_at:proto_end] = bytes(head[-1])
        first = proto_at - _CHECK
        numbers = {}
        for tag, low, high in fields[place + 1 :]:
            if tag != _DEVICE:
                fixed[low:high] = _mask(tag, high - low, GraphExecutionTrace)
            numbers[tag] = low - first
        for tag, low, high in event[trace + 1 :]:
            fixed[low:high] = _mask(tag, high - low, DebugEvent)
        return cls(payload[mode_at], payload[first:], bytes(fixed[first:]), numbers)

    def scan(self, chunk: Chunk, rows: Ints, decode: Decode, found: ScannedTraces) -> Ints:
        """Note what some rows of a chunk hold; return the rows that remain.

        Args:
            chunk: A part of the file.
            rows: Which of its records.
            decode: Reads one record by itself.
            found: Where what is found goes.
        """
        starts, ends = chunk.payload_bounds(rows)
        lengths = ends - starts
        fits = (lengths >= self._size) & (ends >= self._size)
        tails = blocks(chunk.data, np.where(fits, ends - self._size, 0), self._size)
        for offset, word, mask in self._words:
            fits &= (column(tails, "<u8", offset) & mask) == word
        vectors = columns(tails, "<f8", *self._vector)
        fits &= _are_ids(vectors[:, 0])
        if not fits.any():
            return rows
        rest = rows[~fits]
        if rest.size:
            rows, tails, lengths = rows[fits], tails[fits], lengths[fits]
            vectors = columns(tails, "<f8", *self._vector)
        ids = vectors[:, 0].astype(np.int64)
        checks = columns(tails, "<u8", self._shift, 2)
        known = self._lookup(ids, checks, lengths)
        unknown = np.flatnonzero(known < 0)
        if unknown.size:
            _, first = np.unique(ids[unknown], return_index=True)
            new = unknown[first]
            decoded = [decode(row) for row in rows[new].tolist()]
            self._learn(ids[new], checks[new], lengths[new], decoded)
            known = self._lookup(ids, checks, lengths)
        found.sites[rows] = known
        found.bad[rows] = bad_kinds(self._mode, vectors)
        at = self._numbers
        if _MINIMUM in at and _MAXIMUM in at:
            low, high = (column(tails, "<f8", at[tag]) for tag in (_MINIMUM, _MAXIMUM))
            found.largest[rows] = largest_magnitudes(low, high)
            found.serials[rows] = column(tails, "<i8", at[_SERIAL]) if _SERIAL in at else 0
        self.hits += len(rows)
        lost = known < 0
        return np.sort(np.concatenate([rest, rows[lost]])) if lost.any() else rest

    def _lookup(self, ids: Ints, checks: Words, lengths: Ints) -> Ints:
        if not len(self._sites):
            return np.full(len(ids), UNKNOWN, np.int64)
        slots = self._slots[np.minimum(ids, len(self._slots) - 1)]
        agree = (slots >= 0) & (ids < len(self._slots))
        agree &= self._lengths[slots] == lengths
        agree &= self._checks[slots, 0] == checks[:, 0]
        agree &= self._checks[slots, 1] == checks[:, 1]
        return np.where(agree, self._sites[slots], UNKNOWN)

    def _learn(self, ids: Ints, checks: Words, lengths: Ints, decoded: list[int | None]) -> None:
        readable = np.array([site is not None for site in decoded], bool)
        ids, checks, lengths = ids[readable], checks[readable], lengths[readable]
        sites = np.array([site for site in decoded if site is not None], np.int64)
        if not len(ids):
            return
        largest = int(ids.max())
        if largest >= len(self._slots):
            more = np.full(max(largest + 1, 2 * len(self._slots)), UNKNOWN, np.int32)
            more[: len(self._slots)] = self._slots
            self._slots = more
        # What was known under an id may have changed: a step's varint that has grown longer.
        self._slots[ids] = np.arange(len(self._sites), len(self._sites) + len(ids))
        self._sites = np.concatenate([self._sites, sites])
        self._lengths = np.concatenate([self._lengths, lengths])
        self._checks = np.concatenate([self._checks, checks])


def _mask(tag: int, size: int, message: type[Message]) -> bytes:
    """Return which bits of a field's value behind the value vector all records share.

    Raises:
        ValueError: It is a known field that may change what the record means.
    """
    if tag & 7 in (codec.FIXED64, codec.FIXED32):
        return bytes(size)
    if tag >> 3 in message.numbers():
        raise ValueError(f"tag {tag} behind the value vector")
    return (b"\x80" if tag & 7 == codec.VARINT else b"\0") * size  # a varint keeps its width


def _are_ids(numbers: Ints) -> Flags:
    with np.errstate(invalid="ignore"):
        ids: Flags = (numbers >= 0) & (numbers < _MAX_TENSOR_ID) & (numbers == np.floor(numbers))
    return ids
