"""Which of many recorded tensors hold a NaN or an infinity: `TensorSummary.bad`, in bulk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.cursor import varints
from tfdbg_tui.logdir.gather import Bytes, Flags, Ints, blocks, column, columns, words
from tfdbg_tui.logdir.interning import Interner
from tfdbg_tui.logdir.summaries import CONTENT_TAG, VECTOR_HEADS, tensor_content_size
from tfdbg_tui.wire import codec, dtypes
from tfdbg_tui.wire.modes import BAD_COLUMNS, TensorDebugMode

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


def bad_vectors(mode: int, vectors: npt.NDArray[np.float64]) -> Flags:
    """Return which value vectors tell of a NaN or an infinity.

    Args:
        mode: A mode that has value vectors.
        vectors: Shape [n, number of columns].
    """
    bad = np.zeros(len(vectors), bool)
    where = BAD_COLUMNS.get(TensorDebugMode(mode))
    if where is None:
        return bad
    suspect = np.zeros(len(vectors), bool)
    for place in range(where.start, where.stop):
        suspect |= vectors[:, place] != 0  # also true for NaN
    rows = np.flatnonzero(suspect)
    if rows.size:
        # Counts that are no integers, or not finite, are not counts: see `tensor_summary`.
        values = vectors[rows]
        counted = np.abs(np.nan_to_num(values[:, where])) >= 1
        bad[rows] = np.isfinite(values).all(axis=1) & counted.any(axis=1)
    return bad


def bad_protos(data: Bytes, mode: int, starts: Ints, sizes: Ints) -> tuple[Flags, Flags]:
    """Return (which value vectors are bad, which are laid out as writers lay them out).

    Args:
        data: A buffer.
        mode: A mode that has value vectors.
        starts: Where each serialized TensorProto starts.
        sizes: How long each is.
    """
    head = VECTOR_HEADS[mode]
    size = len(head) + head[-1]
    known = sizes == size
    rows = blocks(data, np.where(known, starts, 0), size)
    known &= column(rows, "<u8", 0) == int.from_bytes(head[:8], "little")
    known &= column(rows, "<u2", 8) == int.from_bytes(head[8:], "little")
    return bad_vectors(mode, columns(rows, "<f8", len(head), head[-1] // 8)) & known, known


@dataclass(frozen=True, slots=True)
class _Head:
    """What the bytes of a TensorProto before its content say."""

    size: int  # of the content, in bytes; -1 where only the scalar decoder can tell
    unsigned: str = ""
    exponent: int = 0  # 0: a type that has neither NaN nor infinity


class FullTensors:
    """Looks at the values of tensors that were recorded whole."""

    def __init__(self) -> None:
        self._interner = Interner()
        self._heads: list[_Head] = []

    def bad(self, data: Bytes, starts: Ints, lengths: Ints) -> tuple[Flags, Flags]:
        """Return (which tensors hold a NaN or an infinity, which could be told).

        Args:
            data: A buffer.
            starts: Where each serialized TensorProto starts.
            lengths: How long each is; none is empty.
        """
        bad = np.zeros(len(starts), bool)
        content, sizes, known = _contents(data, starts, lengths)
        rows = np.flatnonzero(known)
        head_ids = self._interner.numbers(data, starts[rows], (content - starts)[rows])
        self._learn()
        for number in np.unique(head_ids).tolist():
            head = self._heads[number]
            some = rows[head_ids == number]
            fits = sizes[some] == head.size
            known[some[~fits]] = False
            some = some[fits]
            if head.exponent and head.size:
                bad[some] = _any_exponent(data, content[some], head)
        return bad, known

    def _learn(self) -> None:
        for string in self._interner.strings[len(self._heads) :]:
            self._heads.append(_read_head(string))


def _contents(data: Bytes, starts: Ints, lengths: Ints) -> tuple[Ints, Ints, Flags]:
    """Return (start, size) of the content of protos ``08 type 12 shape 22 content``."""
    at = words(data)
    first = at[starts]
    known = (first & np.uint64(0x80FF80FF)) == 0x120008  # a dtype below 128, then a shape
    tag = starts + 4 + ((first >> np.uint64(24)) & np.uint64(0xFF)).astype(np.int64)
    ends = starts + lengths
    known &= tag + 2 <= ends
    word = at[np.minimum(tag, ends)]
    known &= (word & np.uint64(0xFF)) == CONTENT_TAG
    sizes, width = varints(word >> np.uint64(8))
    content = tag + 1 + width
    known &= (width > 0) & (content + sizes == ends)
    return content, sizes, known


def _read_head(string: bytes) -> _Head:
    """Decode a TensorProto's head with the scalar decoder."""
    try:
        size, dtype = tensor_content_size(string[: 4 + string[3]])
    except codec.DecodeError:
        return _Head(-1)
    unsigned, exponent = _EXPONENTS.get(dtypes.dtype_name(dtype), ("", 0))
    return _Head(size, unsigned, exponent)


def _any_exponent(data: Bytes, starts: Ints, head: _Head) -> Flags:
    """Return which contents of one type and size have an element that is not finite."""
    if head.size > _GATHERED:
        each = (data[at : at + head.size] for at in starts.tolist())
        return np.array([_not_finite(content, head).any() for content in each], bool)
    found = np.empty(len(starts), bool)
    step = max(1, _GATHERED_TOTAL // head.size)
    for at in range(0, len(starts), step):
        rows = blocks(data, starts[at : at + step], head.size)
        found[at : at + step] = _not_finite(rows, head).any(axis=-1)
    return found


def _not_finite(content: npt.NDArray[Any], head: _Head) -> Flags:
    elements = np.ndarray(
        (*content.shape[:-1], content.shape[-1] // np.dtype(head.unsigned).itemsize),
        head.unsigned,
        content if content.ndim > 1 else content.data,
    )
    exponent = elements.dtype.type(head.exponent)
    flags: Flags = (elements & exponent) == exponent
    return flags
