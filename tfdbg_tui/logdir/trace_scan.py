"""Graph execution traces by the ten thousand: which tensor each one is of, and whether it is bad.

A trace with a value vector need not be read from its beginning.  Its end has a fixed layout:

    ... op name, slot, mode | head of the TensorProto | value vector | device, extension fields

and the first number of the vector is the tensor's id, unique in a file set.  So one block is
gathered from the end of each record, its fixed bytes are compared with those of a `TailLayout`
learned from a record that the scalar decoder has read, and the id leads to the site, whose record
length and preceding bytes must agree too.

Traces without a vector (NO_TENSOR, FULL_TENSOR), or without an id in it, are walked field by field
for all records together, and their beginning (graph, op, slot, mode) is interned (`HeadScan`).
What neither recognises is left to the scalar decoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.logdir.cursor import Cursor
from tfdbg_tui.logdir.full_tensor_scan import FullTensorScan
from tfdbg_tui.logdir.gather import Flags, Ints, Words, blocks, column, columns
from tfdbg_tui.logdir.interning import Interner
from tfdbg_tui.logdir.summaries import VECTOR_HEADS
from tfdbg_tui.logdir.vector_scan import bad_protos, bad_vectors
from tfdbg_tui.wire import codec, tfrecord
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.logdir.recordfile import Chunk

    Decode = Callable[[int], "int | None"]

_MAX_LAYOUTS = 64
_MAX_TENSOR_ID = 1 << 22
_CHECK = 16  # bytes before the TensorProto that must be those of the site
_UNKNOWN = -1

# Tags of DebugEvent and of GraphExecutionTrace.
_TRACE = 10 << 3 | codec.BYTES
_PROTO = 5 << 3 | codec.BYTES
_MODE = 4 << 3 | codec.VARINT
# Extension fields of GraphExecutionTrace, in the order of their numbers: see `wire.events`.
_EXTENSIONS = (
    codec.tag(1000, codec.FIXED64),
    codec.tag(1001, codec.FIXED32),
    codec.tag(1002, codec.FIXED64),
    codec.tag(1003, codec.FIXED64),
)


class TraceScan:
    """What the scan of one file has learned about the layout of its records."""

    def __init__(self) -> None:
        self._layouts: list[TailLayout] = []
        self._heads = HeadScan()

    def scan(self, chunk: Chunk, decode: Decode) -> tuple[Ints, Flags]:
        """Return (site of each record, whether it is bad) for the records of a chunk.

        Args:
            chunk: Records; not a single large one.
            decode: ``decode(row)`` returns the site of a record by the scalar decoder, or None
                where the record is not readable.

        Returns:
            Site -1 stands for a record that only the scalar decoder can read.
        """
        sites = np.full(len(chunk), _UNKNOWN, np.int64)
        bad = np.zeros(len(chunk), bool)
        rest = np.arange(len(chunk))
        for layout in self._layouts:
            rest = layout.scan(chunk, rest, decode, sites, bad)
        while (learned := self._learn(chunk, rest)) is not None:
            self._layouts.append(learned)
            rest = learned.scan(chunk, rest, decode, sites, bad)
        self._layouts.sort(key=lambda layout: -layout.hits)
        self._heads.scan(chunk, rest, decode, sites, bad)
        return sites, bad

    def _learn(self, chunk: Chunk, rest: Ints) -> TailLayout | None:
        """Return the layout of one of some records that no known layout fits."""
        if not rest.size or len(self._layouts) >= _MAX_LAYOUTS:
            return None
        for row in (rest[0], rest[len(rest) // 2], rest[-1]):
            layout = TailLayout.of(chunk.payload(int(row)))
            if layout is not None and layout not in self._layouts:
                return layout
        return None


class TailLayout:
    """The end of a trace's record, from 16 bytes before its TensorProto.

    Attributes:
        hits: Number of records found to have it.
    """

    def __init__(self, mode: int, tail: bytes, fixed: bytes) -> None:
        """Make a layout.

        Args:
            mode: A tensor debug mode that has value vectors.
            tail: The last bytes of a payload that has the layout.
            fixed: 255 for each byte of `tail` that all such payloads share, 0 for others.
        """
        self.hits = 0
        self._mode = mode
        self._size = -(-len(tail) // 8) * 8
        self._shift = self._size - len(tail)  # bytes before those of interest, to fill a word
        self._key = (mode, bytes(a & b for a, b in zip(tail, fixed, strict=True)), fixed)
        head = VECTOR_HEADS[mode]
        self._vector = (self._shift + _CHECK + len(head), head[-1] // 8)
        padding = bytes(self._shift)
        expected = np.frombuffer(padding + tail, "<u8")
        mask = np.frombuffer(padding + fixed, "<u8")
        self._words = [
            (place * 8, word & m, m)
            for place, (word, m) in enumerate(zip(expected, mask, strict=True))
            if m
        ]
        self._slots = np.full(1024, _UNKNOWN, np.int32)  # by tensor id
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
        except (codec.DecodeError, IndexError):
            return None

    @classmethod
    def _of(cls, payload: bytes) -> TailLayout | None:
        tag, start, end = list(codec.spans(payload))[-1]
        if tag != _TRACE or end != len(payload):
            return None
        fields = list(codec.spans(payload[start:]))
        names = [tag for tag, _, _ in fields]
        place = names.index(_PROTO) if _PROTO in names else 0
        if place == 0 or names[place - 1] != _MODE:
            return None
        mode_at = start + fields[place - 1][1]
        proto_at = start + fields[place][1]
        head = VECTOR_HEADS.get(payload[mode_at])
        if head is None or payload[proto_at : proto_at + len(head)] != head:
            return None
        if proto_at != mode_at + 3:  # the tag and length of the TensorProto are a byte each
            return None
        vector_end = proto_at + len(head) + head[-1]
        if vector_end != start + fields[place][2] or proto_at < start + _CHECK:
            return None
        first = proto_at - _CHECK
        fixed = bytearray(b"\xff" * (len(payload) - first))
        fixed[: _CHECK - 4] = bytes(_CHECK - 4)  # up to the mode and the length of the TensorProto
        fixed[_CHECK + len(head) : vector_end - first] = bytes(head[-1])
        for number, low, high in fields[place + 1 :]:
            if number & 7 in (codec.FIXED64, codec.FIXED32):
                fixed[start + low - first : start + high - first] = bytes(high - low)
            elif number & 7 != codec.BYTES or number >> 3 != 6:
                return None  # a varint, or an extension of varying length
        return cls(payload[mode_at], payload[first:], bytes(fixed))

    def scan(self, chunk: Chunk, rows: Ints, decode: Decode, sites: Ints, bad: Flags) -> Ints:
        """Note sites and bad records among `rows` of a chunk; return the rows that remain."""
        ends = chunk.bounds[rows + 1] - tfrecord.FOOTER_SIZE
        lengths = ends - chunk.bounds[rows] - tfrecord.HEADER_SIZE
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
        sites[rows] = known
        bad[rows] = bad_vectors(self._mode, vectors)
        self.hits += len(rows)
        lost = known < 0
        return np.sort(np.concatenate([rest, rows[lost]])) if lost.any() else rest

    def _lookup(self, ids: Ints, checks: Words, lengths: Ints) -> Ints:
        if not len(self._sites):
            return np.full(len(ids), _UNKNOWN, np.int64)
        slots = self._slots[np.minimum(ids, len(self._slots) - 1)]
        agree = (slots >= 0) & (ids < len(self._slots))
        agree &= self._lengths[slots] == lengths
        agree &= self._checks[slots, 0] == checks[:, 0]
        agree &= self._checks[slots, 1] == checks[:, 1]
        return np.where(agree, self._sites[slots], _UNKNOWN)

    def _learn(self, ids: Ints, checks: Words, lengths: Ints, decoded: list[int | None]) -> None:
        readable = np.array([site is not None for site in decoded], bool)
        ids, checks, lengths = ids[readable], checks[readable], lengths[readable]
        sites = np.array([site for site in decoded if site is not None], np.int64)
        if not len(ids):
            return
        largest = int(ids.max())
        if largest >= len(self._slots):
            more = np.full(max(largest + 1, 2 * len(self._slots)), _UNKNOWN, np.int32)
            more[: len(self._slots)] = self._slots
            self._slots = more
        # What was known under an id may have changed: a step's varint that has grown longer.
        self._slots[ids] = np.arange(len(self._sites), len(self._sites) + len(ids))
        self._sites = np.concatenate([self._sites, sites])
        self._lengths = np.concatenate([self._lengths, lengths])
        self._checks = np.concatenate([self._checks, checks])


def _are_ids(numbers: Ints) -> Flags:
    with np.errstate(invalid="ignore"):
        ids: Flags = (numbers >= 0) & (numbers < _MAX_TENSOR_ID) & (numbers == np.floor(numbers))
    return ids


class HeadScan:
    """Reads traces field by field, all at once, and knows their sites by how they begin."""

    def __init__(self) -> None:
        self._heads = Interner()
        self._devices = Interner()
        self._sites: dict[tuple[int, int], int] = {}
        self._full_tensors = FullTensorScan()

    def scan(self, chunk: Chunk, rows: Ints, decode: Decode, sites: Ints, bad: Flags) -> None:
        """Note sites and bad records among `rows` of a chunk."""
        if not rows.size:
            return
        fields = _walk(chunk, rows)
        ok = fields.ok.copy()
        is_bad = np.zeros(len(rows), bool)
        for mode in np.unique(fields.mode[ok]).tolist():
            some = np.flatnonzero(ok & (fields.mode == mode) & (fields.proto_size > 0))
            ok[some], is_bad[some] = self._health(chunk, mode, fields, some)
        mine = np.flatnonzero(ok)
        sites[rows[mine]] = self._sites_of(chunk, rows[mine], fields, mine, decode)
        bad[rows[mine]] = is_bad[mine]

    def _health(self, chunk: Chunk, mode: int, fields: _Fields, some: Ints) -> tuple[Flags, Flags]:
        """Return (which tensors of one mode can be read, which of them are bad)."""
        starts, sizes = fields.proto[some], fields.proto_size[some]
        if mode == TensorDebugMode.NO_TENSOR:
            return np.ones(len(some), bool), np.zeros(len(some), bool)
        if mode == TensorDebugMode.FULL_TENSOR:
            bad, known = self._full_tensors.bad(chunk.data, starts, sizes)
            return known, bad
        if mode not in VECTOR_HEADS:
            return np.zeros(len(some), bool), np.zeros(len(some), bool)
        bad, known = bad_protos(chunk.data, mode, starts, sizes)
        return known, bad

    def _sites_of(
        self, chunk: Chunk, rows: Ints, fields: _Fields, mine: Ints, decode: Decode
    ) -> Ints:
        heads = self._heads.numbers(chunk.data, fields.head[mine], fields.head_size[mine])
        devices = self._devices.numbers(chunk.data, fields.device[mine], fields.device_size[mine])
        pairs = heads << 32 | devices
        distinct, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        found = np.empty(len(distinct), np.int64)
        for i, (pair, at) in enumerate(zip(distinct.tolist(), first.tolist(), strict=True)):
            key = (pair >> 32, pair & 0xFFFFFFFF)
            if key not in self._sites:
                site = decode(int(rows[at]))
                if site is not None:
                    self._sites[key] = site
            found[i] = self._sites.get(key, _UNKNOWN)
        sites: Ints = found[inverse.reshape(-1)]
        return sites


class _Fields:
    """Where the fields of some traces are in their chunk; each an array."""

    ok: Flags
    head: Ints
    head_size: Ints
    mode: Ints
    proto: Ints
    proto_size: Ints
    device: Ints
    device_size: Ints


def _walk(chunk: Chunk, rows: Ints) -> _Fields:
    start = chunk.bounds[rows] + tfrecord.HEADER_SIZE
    end = chunk.bounds[rows + 1] - tfrecord.FOOTER_SIZE
    fields = _Fields()
    cursor = Cursor(chunk.data, start, end)
    cursor.skip_tag(1 << 3 | codec.FIXED64)  # wall_time
    cursor.skip(8)
    cursor.optional_varint(2 << 3 | codec.VARINT)  # step
    cursor.skip_tag(_TRACE)
    size = cursor.varint()
    cursor.ok &= cursor.position + size == end
    fields.head = cursor.position
    cursor.optional_bytes(1 << 3 | codec.BYTES)  # tfdbg_context_id
    cursor.optional_bytes(2 << 3 | codec.BYTES)  # op_name
    cursor.optional_varint(3 << 3 | codec.VARINT)  # output_slot
    fields.mode = cursor.optional_varint(_MODE)
    fields.head_size = cursor.position - fields.head
    _, fields.proto, fields.proto_size = cursor.optional_bytes(_PROTO)
    _, fields.device, fields.device_size = cursor.optional_bytes(6 << 3 | codec.BYTES)
    for tag in _EXTENSIONS:
        cursor.optional_fixed(tag)
    fields.ok = cursor.ok & (cursor.position == end)
    return fields
