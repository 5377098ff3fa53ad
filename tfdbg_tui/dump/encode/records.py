"""How the arrays that a group's sink took become records: value vectors, and their templates."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump.encode import summaries, traces
from tfdbg_tui.wire import tfrecord
from tfdbg_tui.wire.modes import BAD_COLUMNS, VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.dump.encode.batches import Batch
    from tfdbg_tui.dump.observe.groups import Group, Row, Values

Float64Array = npt.NDArray[np.float64]

_MAX_HEALTHY = 64
"""Of so many different sizes of a group's tensors the records are kept."""

_Details = dict[int, Float64Array]
"""What is known of the rows that are detailed; see `groups.DETAIL_WIDTH`."""


class GroupRecords:
    """Makes the records of a group, in the writer thread."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._rows = group.rows
        self._mode = group.mode
        self._full = group.mode is TensorDebugMode.FULL_HEALTH
        self._base = _base_vectors(group.rows, group.mode)
        self._set_counts(
            self._base,
            {row: self._constant_detail(row) for row in group.constants},
        )
        self._alias_rows = [row for row, _ in group.aliases]
        self._alias_sources = [source for _, source in group.aliases]
        self._copy_aliases(self._base)
        self._unsized = [row for row in group.large if group.rows[row].size is None]
        self._unranked = [row for row in group.large if group.rows[row].rank is None]
        self._templates: dict[tuple[bool, bool], traces.TraceTemplates] = {}
        self._healthy: OrderedDict[tuple[bytes, bool], traces.FilledTemplates] = OrderedDict()
        self._novelty = summaries.Novelty()

    def encode(self, batch: Batch) -> Iterator[tuple[bytes, int]]:
        """Yield the records of one execution of the graph, and their number."""
        if self._mode is TensorDebugMode.FULL_TENSOR:
            yield from self._whole_tensors(batch)
            return
        details = self._details(batch.values)
        if self._group.adaptive and any(map(_is_whole, details.values())):
            yield self._adaptive(batch, details)
            return
        records = self._stamped(self._filled(batch, details), batch)
        if self._group.among_whole_tensors:
            yield from ((payload, 1) for _, payload in tfrecord.records(records))
        else:
            yield records, batch.count

    def healthy(self, sizes: bytes, *, stepped: bool) -> traces.FilledTemplates:
        """Return the records of a healthy execution but for what differs in each.

        Args:
            sizes: Those that were not known while tracing, as an int64 array in bytes.
            stepped: Whether there is a training step.
        """
        key = sizes, stepped
        known = self._healthy.get(key)
        if known is None:
            values: Values = {"size": [np.frombuffer(sizes, np.int64)]} if sizes else {}
            known = self._template(stepped=stepped).filled(self._vectors(values, {}))
            self._healthy[key] = known
            if len(self._healthy) > _MAX_HEALTHY:
                self._healthy.popitem(last=False)
        return known

    def _filled(self, batch: Batch, details: _Details) -> traces.FilledTemplates:
        """Return the records of a group but for what differs in each execution."""
        stepped = batch.step is not None
        if not (details or batch.values.keys() - {"details", "iteration"}):
            return self.healthy(b"", stepped=stepped)
        return self._template(stepped=stepped).filled(self._vectors(batch.values, details))

    @staticmethod
    def _stamped(filled: traces.FilledTemplates, batch: Batch) -> bytes:
        return filled.stamped(batch.wall_time, batch.step, batch.serial, [batch.iteration])[0]

    def _template(self, *, stepped: bool, detailed: bool = False) -> traces.TraceTemplates:
        key = stepped, detailed
        templates = self._templates.get(key)
        if templates is None:
            rows = [*self._rows, *self._group.extra_rows] if detailed else self._rows
            templates = self._templates[key] = traces.TraceTemplates(
                [row.site for row in rows],
                TensorDebugMode.FULL_HEALTH if detailed else self._mode,
                stepped=stepped,
                iterated=self._group.iterated,
                extremes=detailed,
            )
        return templates

    # ---- Value vectors -------------------------------------------------------------------------

    def _vectors(self, values: Values, details: _Details) -> Float64Array:
        """Return the value vector of each row."""
        vectors = self._base.copy()
        if "compiled" in values:
            self._set_compiled(vectors, values["compiled"][0])
            return vectors
        if "shape" in values:
            unknown = [number for number, row in enumerate(self._rows) if row.shape is None]
            for number, shape in zip(unknown, values["shape"], strict=True):
                _set_shape(vectors[number], self._rows[number].dtype, tuple(shape.tolist()))
        if "size" in values:
            vectors[self._unsized, 4 if self._full else 1] = values["size"][0]
        if "rank" in values:
            vectors[self._unranked, 3] = values["rank"][0]
        if self._full:
            self._set_signs(vectors, values)
        self._set_counts(vectors, details)
        self._copy_aliases(vectors)
        return vectors

    def _set_signs(self, vectors: Float64Array, values: Values) -> None:
        """Fill in negative, zero and positive; those of bad tensors come from their details."""
        for rows, pack in zip(self._group.packs, values.get("tensor", ()), strict=True):
            vectors[rows, 8:11] = summaries.sign_counts(pack)
        if "sign_sum" in values:
            nonzero, signs = 2 * values["half_nonzero"][0], values["sign_sum"][0]
            large = self._group.large
            vectors[large, 8] = (nonzero - signs) / 2
            vectors[large, 9] = vectors[large, 4] - nonzero
            vectors[large, 10] = (nonzero + signs) / 2

    def _set_counts(self, vectors: Float64Array, details: _Details) -> None:
        for row, detail in details.items():
            if self._mode is TensorDebugMode.CURT_HEALTH:
                vectors[row, 1] = detail[3:6].any()
            elif self._mode is TensorDebugMode.CONCISE_HEALTH:
                vectors[row, 1:] = detail[2:6]
            elif self._full:
                vectors[row, 3:] = detail[1:9]

    def _copy_aliases(self, vectors: Float64Array) -> None:
        first = 4 if self._full else 1
        if self._group.aliases and vectors.shape[1]:
            vectors[self._alias_rows, first:] = vectors[self._alias_sources, first:]

    def _set_compiled(self, vectors: Float64Array, counts: Any) -> None:
        """Fill in what a compiled graph counted; see `compiled` for the columns."""
        if self._mode is TensorDebugMode.SHAPE:
            vectors[:, 1] = [row.dtype for row in self._rows]
            vectors[:, 2:] = counts
        elif self._mode is TensorDebugMode.CURT_HEALTH:
            vectors[:, 1] = counts[:, 1:4].any(axis=1)
        elif self._mode is TensorDebugMode.CONCISE_HEALTH:
            vectors[:, 1:] = counts
        elif self._full:
            vectors[:, 3:10] = counts
            vectors[:, 10] = counts[:, 1] - counts[:, 2:].sum(axis=1)

    def first_bad_compiled(self, counts: Any) -> tuple[Row, summaries.HealthCounts | None] | None:
        """Return the first bad row of a compiled graph; its counts where the mode has them."""
        vectors = self._base.copy()
        self._set_compiled(vectors, counts)
        columns = BAD_COLUMNS.get(self._mode, slice(0, 0))
        bad = np.flatnonzero(vectors[:, columns].any(axis=1))
        if not len(bad):
            return None
        row, vector = self._rows[bad[0]], vectors[bad[0]]
        if self._mode is TensorDebugMode.CURT_HEALTH:
            return row, None
        return row, summaries.HealthCounts(*map(int, vector[4 if self._full else 1 :]))

    # ---- Details -------------------------------------------------------------------------------

    def _details(self, values: Values) -> _Details:
        """Return the details of the bad tensors and, in ADAPTIVE, of the inputs of their ops."""
        details = {int(detail[0]): detail for detail in (values.get("details") or ((),))[0]}
        if not self._group.adaptive:
            return details
        return self._with_neighbours(details)

    def _with_neighbours(self, details: _Details) -> _Details:
        """Add constants and rearranged copies; leave out what is on record elsewhere."""
        group = self._group
        beyond = len(self._rows)
        found = {
            row: detail
            for row, detail in details.items()
            if row < beyond or not (detail[3:6].any() and group.extra_rows[row - beyond].watched)
        }
        if any(map(_is_whole, found.values())) or self._shows_constants():
            found |= {row: self._constant_detail(row) for row in group.constants}
        for row, source in group.aliases:
            if source in found:
                detail = found[row] = found[source].copy()
                detail[1] = self._rows[row].rank or 0
        return found

    def _shows_constants(self) -> bool:
        """Return whether to describe bad constants although nothing made from them is bad."""
        bad = any(counts.bad for counts in self._group.constants.values())
        return bad and self._novelty.is_new("constants")

    def _constant_detail(self, row: int) -> Float64Array:
        return np.array((row, self._rows[row].rank or 0, *self._group.constants[row].values()))

    def _adaptive(self, batch: Batch, details: _Details) -> tuple[bytes, int]:
        """Return the detailed rows in full, the others as they are.

        An input that has no row of its own in the group stands before the first that was computed
        from it.
        """
        stepped = batch.step is not None
        template = self._template(stepped=stepped, detailed=True)
        rows = [*self._rows, *self._group.extra_rows]
        whole = {row: detail for row, detail in details.items() if _is_whole(detail)}
        counted = {row: detail for row, detail in details.items() if row not in whole}
        full = np.zeros((len(rows), template.length))
        extremes = np.full((len(rows), 2), np.nan)
        for number, detail in whole.items():
            site = rows[number]
            full[number, :4] = site.tensor_id, -1, site.dtype, detail[1]
            full[number, 4:] = detail[2:9]
            extremes[number] = detail[9:]
        detailed = template.split(self._stamped(template.filled(full, extremes), batch))
        plain = self._template(stepped=stepped).split(
            self._stamped(self._filled(batch, counted), batch)
        )
        outside = {row for row in whole if row >= len(self._rows)}
        found: dict[int, bytes] = {}
        for row in range(len(self._rows)):
            inputs = self._group.inputs.get(row, ())
            found.update({i: detailed[i] for i in inputs if i in outside and i not in found})
            found[row] = detailed[row] if row in whole else plain[row]
        return b"".join(found.values()), len(found)

    def _whole_tensors(self, batch: Batch) -> Iterator[tuple[bytes, int]]:
        iteration = batch.iteration if self._group.iterated else None
        for row, array in zip(self._rows, batch.values["tensor"], strict=True):
            proto = traces.tensor_content_proto(row.dtype, array)
            yield (
                traces.whole_tensor_payload(
                    batch.wall_time, batch.step, row.site, batch.serial, iteration, proto
                ),
                1,
            )


def _is_whole(detail: Float64Array) -> bool:
    """Return whether more than NaN and infinity was counted of a row."""
    return not np.isnan(detail[6])


def _base_vectors(rows: list[Row], mode: TensorDebugMode) -> Float64Array:
    """Return the value vectors with all that is known before the graph runs."""
    width = len(VALUE_VECTORS.get(mode, ()))
    vectors = np.zeros((len(rows), width))
    for vector, row in zip(vectors, rows, strict=True):
        if width:
            vector[0] = row.tensor_id
        if mode is TensorDebugMode.CONCISE_HEALTH:
            vector[1] = row.size or 0
        elif mode is TensorDebugMode.FULL_HEALTH:
            vector[1:5] = -1, row.dtype, row.rank or 0, row.size or 0
        elif mode is TensorDebugMode.SHAPE and row.shape is not None:
            _set_shape(vector, row.dtype, row.shape)
    return vectors


def _set_shape(vector: Float64Array, dtype: int, shape: tuple[int, ...]) -> None:
    vector[1:] = dtype, len(shape), math.prod(shape), *summaries.padded_shape(shape)
