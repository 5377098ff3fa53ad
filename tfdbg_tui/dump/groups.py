"""A group of graph tensors that are observed together: takes their values, makes their records."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfdbg_tui.dump import summaries, traces
from tfdbg_tui.wire.modes import BAD_COLUMNS, VALUE_VECTORS, TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.dump.writer import DumpWriter

DETAIL_WIDTH = 11
"""A detail: index of the tensor, rank, and the fields of `HealthCounts` in order."""

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """A tensor of a graph; `shape` is None unless it is known while tracing.

    `watched` says whether the filters let it through.
    """

    graph_id: str
    op_name: str
    slot: int
    tensor_id: int
    dtype: int
    shape: tuple[int, ...] | None
    rank: int | None
    device: str
    watched: bool

    @property
    def size(self) -> int | None:
        """Number of elements, where known."""
        return int(np.prod(self.shape, dtype=np.int64)) if self.shape is not None else None

    @property
    def site(self) -> traces.Site:
        """What identifies its records."""
        return traces.Site(self.graph_id, self.op_name, self.slot, self.device)


class Group:
    """The rows of a group, and how the arrays that its sink gets become records.

    Attributes:
        columns: Name of each argument of `sink`; see `instrument`.
        small: Numbers of the rows that are summarised by the FULL_HEALTH kernel alone.
        fast: Numbers of the rows that are summarised by faster ops: the first that `detail` gets.
        extra_rows: The tensors that `detail` gets after those: inputs from outside of the group.
            A bad one was an alert where it was made; here only the healthy add something, and
            what filters left out there.
        aliases: Pairs of a row and an earlier one that has the same elements.
        constants: Counts of the rows that never change.
        detail_inputs: For each bad tensor, which tensors its details include besides itself.
        exact_limit: Size beyond which a tensor is detailed even when it is healthy.
    """

    def __init__(
        self,
        rows: list[Row],
        writer: DumpWriter,
        mode: TensorDebugMode,
        *,
        iterated: bool,
    ) -> None:
        self.rows = rows
        self.mode = mode
        self.adaptive = writer.options.adaptive
        self.columns: tuple[str, ...] = ()
        self.small: list[int] = []
        self.fast: list[int] = []
        self.extra_rows: list[Row] = []
        self.aliases: list[tuple[int, int]] = []
        self.constants: dict[int, summaries.HealthCounts] = {}
        self.detail_inputs: list[tuple[int, ...]] = []
        self.exact_limit: int | None = None
        self._iterated = iterated
        self._writer = writer
        self._templates: dict[tuple[bool, bool], traces.TraceTemplates] = {}
        self._base = _base_vectors(rows, self.mode)

    # ---- Called from inside a running graph ----------------------------------------------------

    def sink(self, *arrays: Any) -> list[Any]:
        """Take the values of one execution of the graph."""
        writer = self._writer
        if writer.active:
            values = dict(zip(self.columns, arrays, strict=True))
            if self.mode is TensorDebugMode.FULL_TENSOR:
                values = {"tensor": [a.copy() for a in arrays[: len(self.rows)]]}
                if self._iterated:
                    values["iteration"] = arrays[-1]
            else:
                values = {name: array.copy() for name, array in values.items()}
            writer.traces_taken(self, values)
        return []

    def detail(self, curt: Any, *tensors: Any) -> Any:
        """Count everything about the bad tensors of one execution of the graph.

        Returns:
            float64 array ``[details, DETAIL_WIDTH]``.
        """
        if not self._writer.active:
            return np.zeros((0, DETAIL_WIDTH))
        wanted = set(np.flatnonzero(curt[:, 1]).tolist())
        for index in list(wanted):
            wanted.update(self.detail_inputs[index])
        limit = self.exact_limit
        if limit is not None:
            wanted.update(i for i, tensor in enumerate(tensors) if tensor.size > limit)
        details = np.empty((len(wanted), DETAIL_WIDTH))
        for detail, index in zip(details, sorted(wanted), strict=True):
            counts = summaries.health_counts(tensors[index], extremes=self.adaptive)
            detail[:] = index, tensors[index].ndim, *counts.values()
        return details

    # ---- Called by the writer thread -----------------------------------------------------------

    def has_bad(self, values: dict[str, Any]) -> bool:
        """Return whether any tensor had a NaN or an infinity."""
        curt, full = values.get("curt"), values.get("full")
        if "compiled" in values:
            return bool(self._bad_columns(self._vectors(values)).any())
        return (curt is not None and bool(curt[:, 1].any())) or (
            full is not None and bool(full[:, 5:8].any())
        )

    def describe_bad(self, values: dict[str, Any]) -> tuple[Row, summaries.HealthCounts | None]:
        """Return the first bad tensor and, where the mode counts, its counts."""
        if "compiled" in values:
            index = int(np.flatnonzero(self._bad_columns(self._vectors(values)).any(axis=1))[0])
            vector = self._vectors(values)[index]
            if self.mode is TensorDebugMode.CURT_HEALTH:
                return self.rows[index], None
            columns = vector[4:] if self.mode is TensorDebugMode.FULL_HEALTH else vector[1:]
            return self.rows[index], summaries.HealthCounts(*map(int, columns))
        if (full := values.get("full")) is not None and full[:, 5:8].any():
            index = int(np.flatnonzero(full[:, 5:8].any(axis=1))[0])
            counts = summaries.HealthCounts(*map(int, full[index, 4:11]))
            return self.rows[self.small[index]], counts
        first = int(np.flatnonzero(values["curt"][:, 1])[0])
        for detail in values.get("details", ()):
            if int(detail[0]) == first:
                counts = summaries.HealthCounts(*map(int, detail[2:9]))
                return self.rows[self.fast[first]], counts
        return self.rows[self.fast[first]], None

    def _bad_columns(self, vectors: Float64Array) -> Float64Array:
        columns = BAD_COLUMNS.get(self.mode, slice(0, 0))
        return vectors[:, columns]

    def encode(self, batch: Batch) -> Iterator[tuple[bytes, int]]:
        """Yield the records of one execution of the graph, and their number."""
        values = batch.values
        iteration = values.get("iteration")
        batch.iteration = int(iteration.reshape(-1)[0]) if iteration is not None else 0
        if self.mode is TensorDebugMode.FULL_TENSOR:
            yield from self._whole_tensors(batch)
            return
        vectors = self._vectors(values)
        if self.adaptive:
            details = self._details(values)
            if details:
                yield from self._adaptive(batch, vectors, details)
                return
        yield self._fill(self._template(batch, bad=False), batch, vectors), len(self.rows)

    def _fill(
        self,
        templates: traces.TraceTemplates,
        batch: Batch,
        vectors: Float64Array,
        extremes: Float64Array | None = None,
    ) -> bytes:
        return templates.fill(
            batch.wall_time, batch.step, batch.serial, batch.iteration, vectors, extremes
        )

    def _template(self, batch: Batch, *, bad: bool) -> traces.TraceTemplates:
        key = (batch.step is not None, bad)
        templates = self._templates.get(key)
        if templates is None:
            rows = [*self.rows, *self.extra_rows] if bad else self.rows
            templates = self._templates[key] = traces.TraceTemplates(
                [row.site for row in rows],
                TensorDebugMode.FULL_HEALTH if bad else self.mode,
                stepped=batch.step is not None,
                iterated=self._iterated,
                extremes=bad,
            )
        return templates

    def _vectors(self, values: dict[str, Any]) -> Float64Array:
        """Return the value vector of each row."""
        vectors = self._base.copy()
        if "compiled" in values:
            self._fill_compiled(vectors, values["compiled"])
            return vectors
        if self.mode is TensorDebugMode.SHAPE:
            if "shape" in values:
                unknown = [row.shape is None for row in self.rows]
                vectors[unknown, 1:] = values["shape"][:, 1:]
        elif "full" in values:
            vectors[self.small, 1:] = values["full"][:, 1:]
        if "curt" in values:
            self._fill_fast(vectors, values)
        full = self.mode is TensorDebugMode.FULL_HEALTH
        for row, counts in self.constants.items():
            if self.mode is TensorDebugMode.CURT_HEALTH:
                vectors[row, 1] = counts.bad > 0
            elif full:
                vectors[row, 4:] = counts.values()[:7]
            else:
                vectors[row, 1:] = counts.values()[:4]
        for row, source in self.aliases:
            vectors[row, 4 if full else 1 :] = vectors[source, 4 if full else 1 :]
        return vectors

    def _fill_fast(self, vectors: Float64Array, values: dict[str, Any]) -> None:
        """Fill in what the fast ops counted, and the details of the bad."""
        fast = np.array(self.fast)
        if self.mode is TensorDebugMode.CURT_HEALTH:
            vectors[fast, 1] = values["curt"][:, 1]
            return
        full = self.mode is TensorDebugMode.FULL_HEALTH
        size_column = 4 if full else 1
        if "size" in values:
            unsized = [i for i in self.fast if self.rows[i].size is None]
            vectors[unsized, size_column] = values["size"]
        if full:
            nonzero = 2 * values["half_nonzero"]
            vectors[fast, 8] = (nonzero - values["sign_sum"]) / 2
            vectors[fast, 9] = vectors[fast, 4] - nonzero
            vectors[fast, 10] = (nonzero + values["sign_sum"]) / 2
        details = values.get("details")
        if details is not None and len(details) and not self.adaptive:
            index = fast[details[:, 0].astype(int)]
            if full:
                vectors[index, 3] = details[:, 1]
                vectors[index, 4:] = details[:, 2:9]
            else:
                vectors[index, 1:] = details[:, 2:6]

    def _details(self, values: dict[str, Any]) -> dict[int, Float64Array]:
        """Return the details of each row that has some; extra rows come after the group's."""
        found = {}
        for detail in values.get("details", ()):
            index = int(detail[0])
            beyond = index - len(self.fast)
            if beyond < 0:
                found[self.fast[index]] = detail
            elif not (detail[3:6].any() and self.extra_rows[beyond].watched):
                found[len(self.rows) + beyond] = detail
        for row, counts in self.constants.items():
            if counts.bad or found:
                found[row] = np.array((0, self.rows[row].rank or 0, *counts.values()))
        for row, source in self.aliases:
            if source in found:
                detail = found[row] = found[source].copy()
                detail[1] = self.rows[row].rank or 0
        return found

    def _fill_compiled(self, vectors: Float64Array, counts: Any) -> None:
        """Fill in what a compiled graph counted; see `compiled` for the columns."""
        if self.mode is TensorDebugMode.SHAPE:
            vectors[:, 1] = [row.dtype for row in self.rows]
            vectors[:, 2:] = counts
        elif self.mode is TensorDebugMode.CURT_HEALTH:
            vectors[:, 1] = counts[:, 1:4].any(axis=1)
        elif self.mode is TensorDebugMode.CONCISE_HEALTH:
            vectors[:, 1:] = counts
        elif self.mode is TensorDebugMode.FULL_HEALTH:
            vectors[:, 4:10] = counts
            vectors[:, 10] = counts[:, 0] - counts[:, 1:].sum(axis=1)

    def _adaptive(
        self, batch: Batch, vectors: Float64Array, details: dict[int, Float64Array]
    ) -> Iterator[tuple[bytes, int]]:
        """Yield bad tensors, and the inputs of their ops, in full; the others as they are."""
        bad = self._template(batch, bad=True)
        rows = [*self.rows, *self.extra_rows]
        full = np.zeros((len(rows), bad.length))
        extremes = np.full((len(rows), 2), np.nan)
        for index, detail in details.items():
            row = rows[index]
            full[index, :4] = row.tensor_id, -1, row.dtype, detail[1]
            full[index, 4:] = detail[2:9]
            extremes[index] = detail[9:]
        healthy_template = self._template(batch, bad=False)
        healthy = healthy_template.split(self._fill(healthy_template, batch, vectors))
        detailed = bad.split(self._fill(bad, batch, full, extremes))
        inputs = [detailed[i] for i in sorted(details) if i >= len(self.rows)]
        own = [detailed[i] if i in details else healthy[i] for i in range(len(self.rows))]
        yield b"".join(inputs + own), len(inputs) + len(own)

    def _whole_tensors(self, batch: Batch) -> Iterator[tuple[bytes, int]]:
        iteration = batch.iteration if self._iterated else None
        for row, array in zip(self.rows, batch.values["tensor"], strict=True):
            proto = traces.tensor_content_proto(row.dtype, array)
            yield (
                traces.whole_tensor_payload(
                    batch.wall_time, batch.step, row.site, batch.serial, iteration, proto
                ),
                1,
            )


class Batch:
    """The values of one execution of a group."""

    __slots__ = ("count", "group", "iteration", "nbytes", "serial", "step", "values", "wall_time")

    def __init__(self, group: Group, values: dict[str, Any], step: int | None, serial: int):
        self.group = group
        self.values = values
        self.step = step
        self.serial = serial
        self.iteration = 0
        self.wall_time = time.time()
        self.count = len(group.rows)
        self.nbytes = sum(
            sum(array.nbytes for array in value) if isinstance(value, list) else value.nbytes
            for value in values.values()
        )

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""
        return self.group.encode(self)


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
            size = row.size or 0
            vector[1:] = row.dtype, len(row.shape), size, *summaries.padded_shape(row.shape)
    return vectors
