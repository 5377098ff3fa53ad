"""What many recorded tensors tell of NaN and infinities: `TensorSummary.bad`, in bulk."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.files.gather import Bytes, Flags, Ints, blocks, column, columns
from tfdbg_tui.logdir.scan.full_tensor_scan import FullTensorScan, Health, Kinds
from tfdbg_tui.logdir.values.bad_kinds import NAN, NEG_INF, POS_INF, UNTOLD
from tfdbg_tui.logdir.values.summaries import VECTOR_HEADS
from tfdbg_tui.wire.modes import BAD_COLUMNS, TensorDebugMode

_KINDS = {1: (UNTOLD,), 3: (NEG_INF, POS_INF, NAN)}
"""What each of `BAD_COLUMNS` tells of, by how many there are."""


class HealthScan:
    """Looks at serialized TensorProtos, whatever the mode they were recorded in."""

    def __init__(self) -> None:
        self._full_tensors = FullTensorScan()

    def look(self, data: Bytes, modes: Ints, starts: Ints, sizes: Ints) -> Health:
        """Return how tensors are bad, and how large those are that are there themselves.

        Args:
            data: A buffer.
            modes: Tensor debug mode of each tensor; any number.
            starts: Where each serialized TensorProto starts.
            sizes: How long each is; 0 where nothing was recorded.
        """
        bad, largest = np.zeros(len(starts), np.uint8), np.full(len(starts), np.nan)
        known = (sizes == 0) | (modes == TensorDebugMode.NO_TENSOR)
        for mode in np.flatnonzero(np.bincount(np.clip(modes[~known], 0, 255))).tolist():
            some = np.flatnonzero(~known & (modes == mode))
            if mode == TensorDebugMode.FULL_TENSOR:
                found = self._full_tensors.look(data, starts[some], sizes[some])
                bad[some], largest[some], known[some] = found
            elif mode in VECTOR_HEADS:
                bad[some], known[some] = _bad_protos(data, mode, starts[some], sizes[some])
        return Health(bad, largest, known)


def bad_kinds(mode: int, vectors: npt.NDArray[np.float64]) -> Kinds:
    """Return which kinds of bad elements value vectors tell of; see `values.bad_kinds`.

    Args:
        mode: A mode that has value vectors.
        vectors: Shape [n, number of columns].
    """
    bad = np.zeros(len(vectors), np.uint8)
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
        bits = np.array(_KINDS[where.stop - where.start], np.uint8)
        bad[rows] = np.where(np.isfinite(values).all(axis=1), counted @ bits, 0)
    return bad


def largest_magnitudes(minima: npt.ArrayLike, maxima: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the largest magnitudes of tensors, given their extremes; NaN where these are none."""
    low, high = np.asarray(minima), np.asarray(maxima)
    return np.where(low <= high, np.maximum(np.abs(low), np.abs(high)), np.nan)


def _bad_protos(data: Bytes, mode: int, starts: Ints, sizes: Ints) -> tuple[Kinds, Flags]:
    """Return (how value vectors are bad, which are laid out as writers lay them out)."""
    head = VECTOR_HEADS[mode]
    size = len(head) + head[-1]
    known = sizes == size
    rows = blocks(data, np.where(known, starts, 0), size)
    known &= column(rows, "<u8", 0) == int.from_bytes(head[:8], "little")
    known &= column(rows, "<u2", 8) == int.from_bytes(head[8:], "little")
    bad = bad_kinds(mode, columns(rows, "<f8", len(head), head[-1] // 8))
    return np.where(known, bad, 0), known
