"""The records of a group of tensors: value vectors in templates, or whole tensors."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.dump.encode import details, queue_rows, summaries, traces
from tfdbg_tui.dump.encode.value_vectors import ValueVectors
from tfdbg_tui.wire import bad_elements, tfrecord
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from tfdbg_tui.dump.encode.causes import Cause
    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Row, Values
    from tfdbg_tui.dump.encode.summaries import HealthCounts
    from tfdbg_tui.dump.encode.value_vectors import Details, Float64Array

_MAX_KNOWN = 64
"""Of so many different sizes and counts of a group's tensors the records are kept."""
_NO_NUMBERS = np.zeros((1, queue_rows.WIDTH), np.int64)


class Batch:
    """The values of one execution of a group.

    Args:
        records: Encodes the group's records.
        values: What was told of its tensors.
        cause: What caused the execution.
    """

    __slots__ = ("cause", "count", "iteration", "nbytes", "records", "values")

    def __init__(self, records: GroupRecords, values: Values, cause: Cause) -> None:
        self.records = records
        self.values = values
        self.cause = cause
        self.iteration = int(values["iteration"][0].reshape(-1)[0]) if records.plan.iterated else 0
        self.count = len(records.plan.rows)
        self.nbytes = sum(array.nbytes for arrays in values.values() for array in arrays)

    @property
    def rows(self) -> queue_rows.Rows | None:
        """What it would be in the queue of rows; None where that would not tell all."""
        plan = self.records.plan
        tells_more = self.values.keys() - {"iteration", "size"}
        if tells_more or plan.has_bad_constants or plan.among_whole_tensors:
            return None
        rows = np.zeros((queue_rows.rows_for(plan.sizes_put), queue_rows.WIDTH), np.int64)
        rows[:, queue_rows.PART] = range(len(rows))
        rows[:, queue_rows.ITERATION] = self.iteration
        for size in self.values.get("size", ()):
            numbers = np.zeros(len(rows) * queue_rows.SIZES_IN_ROW, np.int64)
            numbers[: len(size)] = size
            rows[:, queue_rows.SIZES :] = numbers.reshape(len(rows), -1)
        return rows

    @property
    def is_bad(self) -> bool:
        """Whether one of the tensors is."""
        return self.records.first_bad(self.values) is not None

    @property
    def graph_id(self) -> str:
        """The graph that was executed."""
        return self.records.plan.graph_id

    def encode(self) -> Iterator[tuple[bytes, int]]:
        """Return items for the trace file and the number of records in each."""
        return self.records.encode(self)


class GroupRecords:
    """Makes the records of a group, in the writer thread."""

    def __init__(self, plan: GroupPlan) -> None:
        self.plan = plan
        self._templates: dict[tuple[bool, bool, bool], traces.TraceTemplates] = {}
        self._known: OrderedDict[tuple[bytes, bool, bool], traces.FilledTemplates] = OrderedDict()
        self._novelty = summaries.Novelty()

    @cached_property
    def vectors(self) -> ValueVectors:
        """Makes the value vectors; only once the graph has run, when the plan is filled in."""
        return ValueVectors(self.plan)

    def first_bad(self, values: Values) -> tuple[Row, HealthCounts | None] | None:
        """Return the first bad tensor and, where the mode counts, its counts; None if all are fine.

        Constants do not count: nothing made them bad.
        """
        if "compiled" in values:
            return self.vectors.first_bad_compiled(values["compiled"][0])
        for row, array in zip(self.plan.rows, values.get("tensor", ()), strict=False):
            if row.dtype in summaries.WATCHED and not summaries.all_finite(array):
                return row, summaries.count_bad(array)
        for detail in (values.get("details") or ((),))[0]:
            if detail[details.BAD].any():
                return self.plan.rows[int(detail[details.ROW])], details.counts_of(detail)
        return None

    def encode(self, batch: Batch) -> Iterator[tuple[bytes, int]]:
        """Yield the records of one execution of the graph, and their number."""
        if self.plan.mode is TensorDebugMode.FULL_TENSOR:
            yield from self._whole_tensors(batch)
            return
        known = self._details(batch.values)
        if self.plan.adaptive and any(map(details.is_whole, known.values())):
            yield self._adaptive(batch, known)
            return
        records = self._stamped(self._filled(batch, known), batch)
        if self.plan.among_whole_tensors:
            yield from ((payload, 1) for _, payload in tfrecord.records(records))
        else:
            yield records, batch.count

    def values_in(self, rows: queue_rows.Rows) -> Values:
        """Return what the rows of an execution in the queue tell of its tensors."""
        values: Values = {}
        numbers, key = rows[:, queue_rows.SIZES :], int(rows[0, queue_rows.KEY])
        if key == queue_rows.COUNTED:
            values["details"] = [details.from_rows(self.plan, numbers)]
            numbers = numbers[np.searchsorted(self.plan.counted, self.plan.unsized), 0]
        elif key <= queue_rows.FIRST_SETTLED:
            values["details"] = [details.from_settled(self.plan, key, numbers)]
        if self.plan.sizes_put:
            values["size"] = [numbers.reshape(-1)[: self.plan.sizes_put]]
        return values

    def of_rows(self, rows: queue_rows.Rows, *, stepped: bool) -> traces.FilledTemplates:
        """Return the records of an execution whose rows tell all, but for what differs in each.

        Args:
            rows: Those of the queue.
            stepped: Whether there is a training step.
        """

        def vectors() -> Float64Array:
            values = self.values_in(rows)
            return self.vectors.of(values, self._details(values))

        return self._filled_once(rows[:, queue_rows.KEY :].tobytes(), vectors, stepped=stepped)

    def _filled_once(
        self,
        numbers: bytes,
        vectors: Callable[[], Float64Array],
        *,
        stepped: bool,
        extremes: bool = False,
    ) -> traces.FilledTemplates:
        """Return the records with the value vectors that some numbers stand for, and keep them."""
        key = numbers, stepped, extremes
        known = self._known.get(key)
        if known is None:
            template = self._template(stepped=stepped, extremes=extremes)
            known = self._known[key] = template.filled(vectors())
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return known

    def measured(
        self,
        rows: queue_rows.Rows,
        extremes: Float64Array,
        causes: Sequence[Cause],
        caused: npt.NDArray[np.int64],
    ) -> list[bytes]:
        """Return the records of healthy executions that were measured.

        Args:
            rows: Those of each in the queue, ``[executions, rows, WIDTH]``.
            extremes: Those of the rows of each group, ``[executions, rows, 2]``.
            causes: What causes them, all or none with a step.
            caused: Which of the causes each has.
        """
        stepped = causes[caused[0]].step is not None
        sizes = rows[:, :, queue_rows.SIZES :].reshape(len(rows), -1)[:, : self.plan.sizes_put]
        if (sizes == sizes[0]).all():
            filled = self._filled_once(
                sizes[0].tobytes(),
                lambda: self.vectors.of_sizes(sizes[:1])[0],
                stepped=stepped,
                extremes=True,
            )
        else:
            template = self._template(stepped=stepped, extremes=True)
            filled = template.filled(self.vectors.of_sizes(sizes))
        records = filled.extended(extremes)
        return records.stamped_each(causes, caused, rows[:, 0, queue_rows.ITERATION])

    def _filled(self, batch: Batch, known: Details) -> traces.FilledTemplates:
        """Return the records of a group but for what differs in each execution."""
        stepped = batch.cause.step is not None
        if not (known or batch.values.keys() - {"details", "iteration"}):
            return self.of_rows(_NO_NUMBERS, stepped=stepped)
        (extremes,) = batch.values.get("extremes", (None,))
        template = self._template(stepped=stepped, extremes=extremes is not None)
        filled = template.filled(self.vectors.of(batch.values, known))
        return filled if extremes is None else filled.extended(extremes)

    @staticmethod
    def _stamped(filled: traces.FilledTemplates, batch: Batch) -> bytes:
        return filled.stamped([batch.cause], np.zeros(1, int), np.array([batch.iteration]))[0]

    def _split(self, filled: traces.FilledTemplates, batch: Batch) -> list[bytes]:
        return filled.templates.split(self._stamped(filled, batch))

    def _template(
        self, *, stepped: bool, detailed: bool = False, extremes: bool = False
    ) -> traces.TraceTemplates:
        key = stepped, detailed, extremes
        templates = self._templates.get(key)
        if templates is None:
            rows = self.plan.all_rows if detailed else self.plan.rows
            templates = self._templates[key] = traces.TraceTemplates(
                [row.site for row in rows],
                TensorDebugMode.FULL_HEALTH if detailed else self.plan.mode,
                stepped=stepped,
                iterated=self.plan.iterated,
                extremes=extremes,
                located=detailed,
            )
        return templates

    # ---- Details -------------------------------------------------------------------------------

    def _details(self, values: Values) -> Details:
        """Return the details of the bad tensors and, in ADAPTIVE, of the inputs of their ops."""
        known = {int(detail[details.ROW]): detail for detail in (values.get("details") or ((),))[0]}
        if not self.plan.adaptive:
            return known
        return self._with_neighbours(known)

    def _with_neighbours(self, known: Details) -> Details:
        """Add constants and rearranged copies; leave out what is on record elsewhere."""
        group = self.plan
        beyond = len(self.plan.rows)
        found = {
            row: detail
            for row, detail in known.items()
            if row < beyond
            or not (detail[details.BAD].any() and group.extra_rows[row - beyond].watched)
        }
        if any(map(details.is_whole, found.values())) or self._shows_constants():
            found |= {row: self.vectors.constant_detail(row) for row in group.constants}
        for row, source in group.aliases:
            if source in found:
                detail = found[row] = found[source].copy()
                detail[details.RANK] = self.plan.rows[row].rank or 0
                # Of a transposed copy the bad elements are elsewhere.
                detail[details.BAD_ELEMENTS] = bad_elements.numbers(self.plan.rows[row].shape or ())
        return found

    def _shows_constants(self) -> bool:
        """Return whether to describe bad constants although nothing made from them is bad."""
        bad = any(counts.bad for counts in self.plan.constants.values())
        return bad and self._novelty.is_new("constants")

    def _adaptive(self, batch: Batch, known: Details) -> tuple[bytes, int]:
        """Return the detailed rows in full, the others as they are.

        An input that has no row of its own in the group stands before the first that was computed
        from it.
        """
        stepped = batch.cause.step is not None
        template = self._template(stepped=stepped, detailed=True, extremes=True)
        rows = self.plan.all_rows
        whole = {row: detail for row, detail in known.items() if details.is_whole(detail)}
        counted = {row: detail for row, detail in known.items() if row not in whole}
        full = np.zeros((len(rows), template.length))
        extensions = np.full((len(rows), details.EXTENSIONS_WIDTH), np.nan)
        for number, detail in whole.items():
            site = rows[number]
            full[number, :4] = site.tensor_id, -1, site.dtype, detail[details.RANK]
            full[number, 4:] = detail[details.SIZE_TO_POSITIVE]
            extensions[number] = detail[details.EXTENSIONS]
        detailed = self._split(template.filled(full).extended(extensions), batch)
        plain = self._split(self._filled(batch, counted), batch)
        outside = {row for row in whole if row >= len(self.plan.rows)}
        found: dict[int, bytes] = {}
        for row in range(len(self.plan.rows)):
            inputs = self.plan.inputs.get(row, ())
            found.update({i: detailed[i] for i in inputs if i in outside and i not in found})
            found[row] = detailed[row] if row in whole else plain[row]
        return b"".join(found.values()), len(found)

    def _whole_tensors(self, batch: Batch) -> Iterator[tuple[bytes, int]]:
        iteration = batch.iteration if self.plan.iterated else None
        for row, array in zip(self.plan.rows, batch.values["tensor"], strict=True):
            proto = traces.tensor_content_proto(row.dtype, array)
            payload = traces.whole_tensor_payload(batch.cause, row.site, iteration, proto)
            yield payload if self.plan.among_whole_tensors else tfrecord.frame(payload), 1
