"""How large many tensors recorded whole (FULL_TENSOR) are, and which hold a NaN or an infinity.

TensorFlow lays a TensorProto out as type, shape and one field with the values: raw content, or, for
a single element, a list by type.  What comes before the values is interned and read by the scalar
decoder once; the values of all tensors with equal beginnings are then looked at together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.files.gather import Bytes, Flags, Floats, Ints, blocks, words
from tfdbg_tui.logdir.scan.cursor import varints
from tfdbg_tui.logdir.scan.interning import Interner
from tfdbg_tui.logdir.values.bad_kinds import NAN, NEG_INF, POS_INF
from tfdbg_tui.logdir.values.tensors import tensor_content_size
from tfdbg_tui.wire import codec, dtypes
from tfdbg_tui.wire.events import TensorProto

Kinds = npt.NDArray[np.uint8]
"""Of each tensor, which kinds of bad elements it holds; see `values.bad_kinds`."""

_GATHERED = 4096  # tensors up to this many bytes are looked at together
_GATHERED_TOTAL = 1 << 22

# Unsigned integer as wide as an element, and the exponent bits: all set in NaN and infinities.
_EXPONENTS: dict[str, tuple[str, int]] = {
    "float16": ("<u2", 0x7C00),
    "bfloat16": ("<u2", 0x7F80),
    "float32": ("<u4", 0x7F800000),
    "complex64": ("<u4", 0x7F800000),
    "float64": ("<u8", 0x7FF0000000000000),
    "complex128": ("<u8", 0x7FF0000000000000),
}

_REAL = {"<u2": np.float16, "<u4": np.float32, "<u8": np.float64}
"""Types by unsigned integers as wide; numpy lacks bfloat16, the upper half of a float32."""

_CONTENT_TAG = TensorProto.tag("tensor_content")
# Fields that list values of one type; those of integers are varints, as are the bits of the half
# types.
_PACKED_TAGS = {
    "float32": TensorProto.tag("float_val"),
    "float64": TensorProto.tag("double_val"),
    "complex64": TensorProto.tag("scomplex_val"),
    "complex128": TensorProto.tag("dcomplex_val"),
}
_HALF_TAG = TensorProto.tag("half_val")
_INTEGER_TAGS = tuple(map(TensorProto.tag, ("int_val", "int64_val", "bool_val")))

# The first four bytes: a dtype below 128, then a shape of up to 127 bytes.
_BEGINNING = (TensorProto.tag("dtype"), 0, TensorProto.tag("tensor_shape"), 0)
_BEGINNING_MASK = (0xFF, 0x80, 0xFF, 0x80)


@dataclass(frozen=True, slots=True)
class _Head:
    """What the bytes of a TensorProto before its values say.

    Attributes:
        sizes: How many bytes of values there may be; empty where only the scalar decoder can tell.
        varint: Whether the bytes are one varint.
        dtype: Name of the type.
        unsigned: Unsigned integer as wide as an element.
        exponent: Exponent bits of an element; 0 for a type that has neither NaN nor infinity.
    """

    sizes: tuple[int, ...] = ()
    varint: bool = False
    dtype: str = ""
    unsigned: str = ""
    exponent: int = 0


class Health(NamedTuple):
    """What the values of some tensors tell; arrays of shape [tensors].

    Attributes:
        bad: Which kinds of bad elements there are.
        largest: The largest magnitude of those that are finite; NaN where there is none, where it
            is not on record, and for complex numbers.
        known: Whether that could be told.
    """

    bad: Kinds
    largest: Floats
    known: Flags


class FullTensorScan:
    """Looks at the values of tensors that were recorded whole."""

    def __init__(self) -> None:
        self._interner = Interner()
        self._heads: list[_Head] = []

    def look(self, data: Bytes, starts: Ints, lengths: Ints) -> Health:
        """Return what some tensors hold.

        Args:
            data: A buffer.
            starts: Where each serialized TensorProto starts.
            lengths: How long each is; none is empty.
        """
        bad, largest = np.zeros(len(starts), np.uint8), np.full(len(starts), np.nan)
        head_sizes, values, known = _values(data, starts, lengths)
        rows = np.flatnonzero(known)
        head_ids = self._interner.numbers(data, starts[rows], head_sizes[rows])
        for string in self._interner.strings[len(self._heads) :]:
            self._heads.append(_read_head(string))
        sizes = starts + lengths - values
        for number in np.unique(head_ids).tolist():
            head = self._heads[number]
            some = rows[head_ids == number]
            fits = np.isin(sizes[some], head.sizes)
            if head.varint:
                fits &= _are_single_varints(data, values[some], sizes[some])
            known[some[~fits]] = False
            some = some[fits]
            if head.exponent and some.size:
                bad[some], largest[some] = _look(data, values[some], sizes[some], head)
        return Health(bad, largest, known)


def _values(data: Bytes, starts: Ints, lengths: Ints) -> tuple[Ints, Ints, Flags]:
    """Return (size of the head, start of the values, whether it is laid out so) of protos.

    The layout is type, shape, tag, length, values, or without the last three for a tensor without
    elements.  The head ends with the tag.
    """
    at = words(data)
    first = at[starts]
    known = (first & _little_endian(_BEGINNING_MASK)) == _little_endian(_BEGINNING)
    ends = starts + lengths
    tag = starts + 4 + ((first >> np.uint64(24)) & np.uint64(0xFF)).astype(np.int64)
    known &= tag <= ends
    tag = np.minimum(tag, ends)
    empty = tag == ends
    word = at[tag]
    sizes, width = varints(word >> np.uint64(8))
    values = tag + 1 + width
    known &= empty | ((width > 0) & (values + sizes == ends))
    return tag + ~empty - starts, np.where(empty, ends, values), known


def _little_endian(data: tuple[int, ...]) -> np.uint64:
    return np.uint64(int.from_bytes(data, "little"))


def _read_head(string: bytes) -> _Head:
    """Read a TensorProto's head with the scalar decoder."""
    shape_end = 4 + string[3]
    try:
        size, dtype = tensor_content_size(string[:shape_end])
    except codec.DecodeError:
        return _Head()
    tag = string[shape_end] if len(string) > shape_end else None
    if size <= 0 or tag is None:
        # No elements; or, of types that numpy lacks, nothing is looked at.
        return _Head(sizes=(0,)) if tag is None and size <= 0 else _Head()
    name = dtypes.dtype_name(dtype)
    unsigned, exponent = _EXPONENTS.get(name, ("", 0))
    if tag in (_CONTENT_TAG, _PACKED_TAGS.get(name)):
        one = tensor_content_size(TensorProto(dtype).encode())[0]
        return _Head((size, one), dtype=name, unsigned=unsigned, exponent=exponent)
    tags = (_HALF_TAG,) if unsigned == "<u2" else () if exponent else _INTEGER_TAGS
    if tag in tags:
        return _Head(tuple(range(1, 8)), True, name, unsigned, exponent)
    return _Head()


def _are_single_varints(data: Bytes, starts: Ints, sizes: Ints) -> Flags:
    _, width = varints(words(data)[starts])
    single: Flags = width == sizes
    return single


def _look(data: Bytes, starts: Ints, sizes: Ints, head: _Head) -> tuple[Kinds, Floats]:
    """Return how tensors with equal heads are bad, and their largest magnitudes."""
    bad, largest = np.empty(len(starts), np.uint8), np.empty(len(starts))
    if head.varint:
        bits, _ = varints(words(data)[starts])
        return _look_at(bits.astype(head.unsigned)[:, None], head)
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        if size > _GATHERED:
            for row in rows.tolist():
                start = int(starts[row])
                part = np.frombuffer(data[start : start + size].data, head.unsigned)
                bad[[row]], largest[[row]] = _look_at(part[None], head)
            continue
        step = max(1, _GATHERED_TOTAL // size)
        for at in range(0, len(rows), step):
            some = rows[at : at + step]
            part = blocks(data, starts[some], size).view(head.unsigned)
            bad[some], largest[some] = _look_at(part, head)
    return bad, largest


def _look_at(bits: npt.NDArray[Any], head: _Head) -> tuple[Kinds, Floats]:
    """Do so for elements, ``[tensors, elements]``, given as unsigned integers.

    Without their signs these are in the order of the magnitudes; above all of them NaN and ∞ are.
    """
    exponent = bits.dtype.type(head.exponent)
    magnitudes = bits & bits.dtype.type(np.iinfo(bits.dtype).max >> 1)
    is_bad = magnitudes >= exponent
    is_complex = head.dtype.startswith("complex")
    bad, rows = np.zeros(len(bits), np.uint8), np.flatnonzero(is_bad.any(axis=1))
    if rows.size:
        kinds = _kinds_of_complex if is_complex else _kinds
        bad[rows] = kinds(bits[rows], magnitudes[rows], exponent)
    if is_complex:
        return bad, np.full(len(bits), np.nan)
    magnitudes[is_bad] = 0
    largest = magnitudes.max(axis=1)
    if head.dtype == "bfloat16":
        largest = largest.astype("<u4") << 16
    found = largest.view(_REAL[largest.dtype.str]).astype(np.float64)
    return bad, np.where(is_bad.all(axis=1), np.nan, found)


def _kinds(bits: npt.NDArray[Any], magnitudes: npt.NDArray[Any], exponent: Any) -> Kinds:
    """Return which kinds of bad elements real tensors hold; see `_look_at`."""
    is_infinite, is_negative = magnitudes == exponent, bits != magnitudes
    return (
        _where_any(magnitudes > exponent, NAN)
        | _where_any(is_infinite & is_negative, NEG_INF)
        | _where_any(is_infinite & ~is_negative, POS_INF)
    )


def _kinds_of_complex(_: npt.NDArray[Any], magnitudes: npt.NDArray[Any], exponent: Any) -> Kinds:
    """Do so for complex ones: NaN where a part is, or else +∞ where one is infinite."""
    parts = magnitudes.reshape(len(magnitudes), -1, 2)
    is_nan, is_infinite = (parts > exponent).any(axis=2), (parts == exponent).any(axis=2)
    return _where_any(is_nan, NAN) | _where_any(is_infinite & ~is_nan, POS_INF)


def _where_any(flags: Flags, bit: int) -> Kinds:
    """Return a bit for each tensor, ``[tensors, elements]``, that has a flag."""
    found: Kinds = np.where(flags.any(axis=1), np.uint8(bit), np.uint8(0))
    return found
