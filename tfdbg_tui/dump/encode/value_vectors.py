"""Value vectors of the tensors of a group, from the arrays that its graph hands over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import details, summaries
from tfdbg_tui.dump.encode.packed_vectors import padded_shape
from tfdbg_tui.wire.modes import BAD_COLUMNS, VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Row, Values

Float64Array = npt.NDArray[np.float64]

Details = dict[int, Float64Array]
"""What is known of the rows that are detailed; see `details`."""

_FULL = VALUE_VECTORS[TensorDebugMode.FULL_HEALTH].index
_RANK, _SIZE, _NEG, _ZERO, _POS = map(_FULL, ("rank", "size", "neg", "zero", "pos"))
"""Columns of a FULL_HEALTH value vector."""
_AFTER_ID = 1
"""The first column behind the tensor id: whether it is bad in CURT_HEALTH, the size in
CONCISE_HEALTH, the dtype in SHAPE."""


class ValueVectors:
    """Makes the value vectors of a group whose plan is filled in."""

    def __init__(self, plan: GroupPlan) -> None:
        self._plan = plan
        self._rows = plan.rows
        self._mode = plan.mode
        self._full = plan.mode is TensorDebugMode.FULL_HEALTH
        self._first_count = _SIZE if self._full else _AFTER_ID
        self._alias_rows = [row for row, _ in plan.aliases]
        self._alias_sources = [source for _, source in plan.aliases]
        self._counted = plan.unknown
        self._unranked = [row for row in plan.large if plan.rows[row].rank is None]
        self._base = _base_vectors(plan.rows, plan.mode)
        self._set_counts(self._base, {row: self.constant_detail(row) for row in plan.constants})
        self._copy_aliases(self._base)

    def constant_detail(self, row: int) -> Float64Array:
        """Return the detail of a row that never changes."""
        return np.array((row, self._rows[row].rank or 0, *self._plan.constants[row].values()))

    def of(self, values: Values, found: Details) -> Float64Array:
        """Return the value vector of each row in one execution.

        Args:
            values: What the graph handed over.
            found: The details of rows.
        """
        vectors = self._base.copy()
        if "compiled" in values:
            vectors[self._counted] = self._compiled(values["compiled"][0])
            self._copy_aliases(vectors)
            return vectors
        if "shape" in values:
            unknown = [number for number, row in enumerate(self._rows) if row.shape is None]
            for number, shape in zip(unknown, values["shape"], strict=True):
                _set_shape(vectors[number], self._rows[number].dtype, tuple(shape.tolist()))
        if "size" in values:
            vectors[self._plan.unsized, self._first_count] = values["size"][0]
        if "rank" in values:
            vectors[self._unranked, _RANK] = values["rank"][0]
        if self._full:
            self._set_signs(vectors, values)
        self._set_counts(vectors, found)
        self._copy_aliases(vectors)
        return vectors

    def of_sizes(self, sizes: npt.NDArray[np.int64]) -> Float64Array:
        """Return the value vectors of healthy executions, ``[executions, rows, width]``.

        Args:
            sizes: Those that each has told, ``[executions, GroupPlan.sizes_put]``.
        """
        vectors = np.repeat(self._base[None], len(sizes), axis=0)
        if self._plan.sizes_put:
            vectors[:, self._plan.unsized, self._first_count] = sizes
            self._copy_aliases(vectors)
        return vectors

    def _set_signs(self, vectors: Float64Array, values: Values) -> None:
        """Fill in negative, zero and positive; those of bad tensors come from their details."""
        for rows, pack in zip(self._plan.packs, values.get("tensor", ()), strict=True):
            vectors[rows, _NEG : _POS + 1] = summaries.sign_counts(pack)
        if "sign_sum" in values:
            nonzero, signs = 2 * values["half_nonzero"][0], values["sign_sum"][0]
            large = self._plan.large
            vectors[large, _NEG] = (nonzero - signs) / 2
            vectors[large, _ZERO] = vectors[large, _SIZE] - nonzero
            vectors[large, _POS] = (nonzero + signs) / 2

    def _set_counts(self, vectors: Float64Array, found: Details) -> None:
        for row, detail in found.items():
            if self._mode is TensorDebugMode.CURT_HEALTH:
                vectors[row, _AFTER_ID] = detail[details.BAD].any()
            elif self._mode is TensorDebugMode.CONCISE_HEALTH:
                vectors[row, _AFTER_ID:] = detail[details.SIZE_TO_NAN]
            elif self._full:
                vectors[row, _RANK:] = detail[details.RANK : details.EXTREMES.start]

    def _copy_aliases(self, vectors: Float64Array) -> None:
        if self._plan.aliases and vectors.shape[-1]:
            counts = slice(self._first_count, None)
            vectors[..., self._alias_rows, counts] = vectors[..., self._alias_sources, counts]

    def _compiled(self, counts: Any) -> Float64Array:
        """Return the value vectors of what a compiled graph counted; see `compiled`."""
        vectors = self._base[self._counted]
        if self._mode is TensorDebugMode.SHAPE:
            vectors[:, _AFTER_ID] = [self._rows[row].dtype for row in self._counted]
            vectors[:, _AFTER_ID + 1 :] = counts
        elif self._mode is TensorDebugMode.CURT_HEALTH:
            vectors[:, _AFTER_ID] = counts[:, 1:4].any(axis=1)  # behind the size: -∞, +∞, NaN
        elif self._mode is TensorDebugMode.CONCISE_HEALTH:
            vectors[:, _AFTER_ID:] = counts
        elif self._full:
            vectors[:, _RANK:_POS] = counts
            vectors[:, _POS] = counts[:, 1] - counts[:, 2:].sum(axis=1)  # the rest of the size
        return vectors

    def first_bad_compiled(self, counts: Any) -> tuple[Row, summaries.HealthCounts | None] | None:
        """Return the first bad row of a compiled graph; its counts where the mode has them."""
        vectors = self._compiled(counts)
        columns = BAD_COLUMNS.get(self._mode, slice(0, 0))
        bad = np.flatnonzero(vectors[:, columns].any(axis=1))
        if not len(bad):
            return None
        row, vector = self._rows[self._counted[bad[0]]], vectors[bad[0]]
        if self._mode is TensorDebugMode.CURT_HEALTH:
            return row, None
        return row, summaries.HealthCounts(*map(int, vector[self._first_count :]))


def _base_vectors(rows: list[Row], mode: TensorDebugMode) -> Float64Array:
    """Return the value vectors with all that is known before the graph runs."""
    width = len(VALUE_VECTORS.get(mode, ()))
    vectors = np.zeros((len(rows), width))
    for vector, row in zip(vectors, rows, strict=True):
        if width:
            vector[0] = row.tensor_id
        if mode is TensorDebugMode.CONCISE_HEALTH:
            vector[_AFTER_ID] = row.size or 0
        elif mode is TensorDebugMode.FULL_HEALTH:
            # From the device, which the writer does not tell, to the size.
            vector[_AFTER_ID : _SIZE + 1] = -1, row.dtype, row.rank or 0, row.size or 0
        elif mode is TensorDebugMode.SHAPE and row.shape is not None:
            _set_shape(vector, row.dtype, row.shape)
    return vectors


def _set_shape(vector: Float64Array, dtype: int, shape: tuple[int, ...]) -> None:
    vector[_AFTER_ID:] = dtype, len(shape), math.prod(shape), *padded_shape(shape)
