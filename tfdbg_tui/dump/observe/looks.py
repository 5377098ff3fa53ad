"""How the tensors of a group are looked at: which of them, and by which ops.

A group costs one look at its large tensors, by TensorFlow's ``DebugNumericSummaryV2`` in its
CURT_HEALTH mode, which runs at memory speed, and one at each *pack* of small tensors of one shape.
Where an accelerator is, to start an op takes longer than to copy a megabyte: so there tensors of
any shape are joined.  `coverage` tells which need no look of their own.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.encode.group_plan import Product
from tfdbg_tui.dump.encode.settled import Makers
from tfdbg_tui.dump.observe import coverage, elements, products, settled
from tfdbg_tui.dump.observe.observed import ALL_JOINED_BYTES, JOINED_BYTES, estimated_bytes
from tfdbg_tui.dump.tensorflow import devices, tensor_ops
from tfdbg_tui.dump.tensorflow.recomputed import recompute
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.encode.group_plan import GroupPlan, Row
    from tfdbg_tui.dump.encode.settled import SettledPatterns
    from tfdbg_tui.dump.observe.observed import Observed
    from tfdbg_tui.dump.observe.places import Place
    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

_PACKED_ELEMENTS = 4096
"""Up to so many elements, to copy a tensor into a pack is cheaper than an op of its own."""
_TOGETHER_BYTES = 4 << 20
"""So many bytes become one tensor."""
_FEWEST_IN_ONE_COPY = 16
"""TensorFlow copies fewer tensors than these one by one when it joins them on a GPU."""


class Looks:
    """What looks at the tensors of a group, in modes that watch their health.

    Args:
        place: Takes the ops.
        ops: Makes them, on the device of the tensors.
        items: The tensors.
        plan: The group's; filled in.
        input_row: Returns the row of any recorded tensor of the graph.
        by_python: Whether the sink gets the tensors, and Python looks at them in each execution.

    Attributes:
        columns: What a sink gets of each execution, and its names.
        sizes: The sizes that are not known while tracing; they come into being on the host.
        tensors: See `GroupPlan.places`; none where there is nothing to look at.
    """

    def __init__(
        self,
        place: Place,
        ops: OpMaker,
        items: Sequence[Observed],
        plan: GroupPlan,
        input_row: Callable[[Any], Row | None],
        *,
        by_python: bool,
    ) -> None:
        self._by_python = by_python
        self._place = place
        self._ops = ops
        self._items = items
        self._plan = plan
        self._input_row = input_row
        is_full = plan.mode is TensorDebugMode.FULL_HEALTH
        self._joins = devices.has_accelerator() and not (by_python or is_full)
        self._looked_at: list[Any] = []
        self._row_numbers: dict[str, int] = {}
        self._wide: dict[str, Any] = {}
        self.columns: list[tuple[str, Any]] = []
        self.sizes: list[Any] = []
        self.tensors: list[Any] = []
        packs = self._packs(self._sort_rows())
        self._biases = self._find_biases() if not (by_python or is_full) else {}
        large = [items[row] for row in plan.large]
        if is_full:
            self.columns += [("tensor", pack) for pack in packs]
        if not (packs or large):
            return
        if is_full and large:
            self._add_ranks(large)
            self._add_signs(large)
        if plan.mode is not TensorDebugMode.CURT_HEALTH and not by_python:
            self.sizes = [self._size(row) for row in plan.large if items[row].row.size is None]
        self._find_places(packs)

    def curt(self) -> Any:
        """Return what tells which tensors are bad; see `Group.detail`."""
        looks = [tensor_ops.curt_summary(self._ops, tensor) for tensor in self._looked_at]
        return self._ops.tensor("Pack", looks) if len(looks) > 1 else looks[0]

    def arguments(self) -> list[elements.Argument]:
        """Return the tensors as they are handed over whole."""
        plan = self._plan
        rows = plan.all_rows
        shapes: dict[int, tuple[int, ...] | None] = {}
        for row, (index, place) in plan.places.items():
            shape = rows[row].shape
            if place is not None and shape is not None:
                shape = (len(plan.seen[index]), *shape)
            shapes[index] = shape
        return [elements.Argument(t, shapes.get(index)) for index, t in enumerate(self.tensors)]

    def leave_products_out(self) -> None:
        """Let Python compute again what TensorFlow fuses: see `products`.

        What the graph counts itself, to find what is settled, stays as it is.
        """
        plan = self._plan
        sources = plan.settled.sources if plan.settled is not None else ()
        counted = {row for alike in sources for row in alike.rows}
        for row, bias in self._biases.items():
            if row not in counted:
                op = self._items[row].tensor.op
                inputs = tuple(map(self._argument, op.inputs))
                plan.products[row] = Product(inputs, self._argument(bias), recompute(op))
                index, _ = plan.places[row]
                self.tensors[index] = self._widened(self._here(self._items[plan.covers[row]]))

    def patterns(self, number: int) -> SettledPatterns | None:
        """Return the settled patterns of the group, given its number; see `settled.patterns_of`."""
        return settled.patterns_of(
            self._plan, self._items, self._row_numbers, self.counted(), number
        )

    def counted(self) -> dict[int, Any]:
        """Return what the graph has of each row in `GroupPlan.counted`."""
        return {row: self.tensor(row) for row in self._plan.counted}

    def tensor(self, row: int) -> Any:
        """Return what the graph has of a row."""
        index, place = self._plan.places[row]
        return self.tensors[index] if place is None else self._widened(self._here(self._items[row]))

    def _here(self, item: Observed) -> Any:
        """Return what stands for a tensor where the ops are made."""
        return self._place.tensor(item.tensor)

    def _widened(self, tensor: Any) -> Any:
        """Return `tensor_ops.widened` of a tensor, made once."""
        wide = self._wide.get(tensor.name)
        if wide is None:
            wide = self._wide[tensor.name] = tensor_ops.widened(self._ops, tensor)
        return wide

    def _sort_rows(self) -> list[int]:
        """Decide how each row is looked at; return those that are small.

        Constants, mere rearrangements and what others cover cost nothing.
        """
        plan = self._plan
        self._row_numbers = coverage.note_known(self._items, plan)
        known = {*plan.constants, *(row for row, _ in plan.aliases)}
        small: list[int] = []
        coverable: set[int] = set()
        for number, item in enumerate(self._items):
            if number in known:
                continue
            size = item.row.size
            is_small = not self._joins and size is not None and size <= _PACKED_ELEMENTS
            (small if is_small else plan.large).append(number)
            # FULL_HEALTH needs the elements of small ones.
            if not is_small or plan.mode is not TensorDebugMode.FULL_HEALTH:
                coverable.add(number)
            if not item.row.slot:
                self._cover_inputs(number, item, coverable)
        return small

    def _cover_inputs(self, number: int, item: Observed, coverable: set[int]) -> None:
        """Let a row cover those inputs of its op that may be covered."""
        for slot in coverage.covered_inputs(item.tensor.op):
            source = coverage.row_of(item.inputs[slot], self._row_numbers)
            if source in coverable:
                self._plan.covers.setdefault(source, number)

    def _find_biases(self) -> dict[int, Any]:
        """Return the covered rows that TensorFlow fuses with what covers them, and the biases."""
        covered = {row: self._items[row] for row in self._plan.covers}
        biases = {row: products.added_bias(item, self._place) for row, item in covered.items()}
        return {row: bias for row, bias in biases.items() if bias is not None}

    def _size(self, row: int) -> Any:
        """Return the size of a row: to ask for that of a product would be to take the product."""
        told_by = self._plan.covers[row] if row in self._biases else row
        tensor = self._widened(self._here(self._items[told_by]))
        return self._ops.tensor("Size", tensor, out_type=tf.int64)

    def _argument(self, tensor: Any) -> int:
        """Return which argument a tensor of the program is; it becomes one if it is none."""
        here = self._widened(self._place.tensor(tensor))
        for index, known in enumerate(self.tensors):
            if known is here:
                return index
        self.tensors.append(here)
        return len(self.tensors) - 1

    def _packs(self, small: Sequence[int]) -> list[Any]:
        """Pack the small tensors of each shape and type; one on its own counts as large."""
        plan = self._plan
        alike: dict[Any, list[int]] = {}
        for number in small:
            if number not in plan.covers:
                row = self._items[number].row
                alike.setdefault((row.dtype, row.shape), []).append(number)
        for rows in alike.values():
            if (len(rows) > 1 and not self._by_python) or plan.mode is TensorDebugMode.FULL_HEALTH:
                plan.packs.append(rows)
            else:
                plan.large += rows
        return [
            self._widened(self._ops.tensor("Pack", [self._here(self._items[row]) for row in rows]))
            for rows in plan.packs
        ]

    def _add_ranks(self, large: Sequence[Observed]) -> None:
        unranked = [self._widened(self._here(item)) for item in large if item.row.rank is None]
        self._add_packed("rank", [self._ops.tensor("Rank", tensor) for tensor in unranked])

    def _add_signs(self, items: Sequence[Observed]) -> None:
        ops = self._ops
        sums: list[Any] = []
        squares: list[Any] = []
        whole, first = ops.constant([-1], tf.int32), ops.constant([0], tf.int32)
        for item in items:
            signed = tensor_ops.for_sign(ops, self._widened(self._here(item)))
            sign = ops.tensor("Sign", signed)
            total = ops.tensor("Sum", ops.tensor("Reshape", sign, whole), first)
            half = ops.tensor("L2Loss", sign)
            for scalar, into in ((total, sums), (half, squares)):
                wide = scalar.dtype == tf.float64
                into.append(scalar if wide else ops.tensor("Cast", scalar, DstT=tf.float64))
        self._add_packed("sign_sum", sums)
        self._add_packed("half_nonzero", squares)

    def _add_packed(self, name: str, scalars: list[Any]) -> None:
        if scalars:
            self.columns.append((name, self._ops.tensor("Pack", scalars)))

    def _find_places(self, packs: Sequence[Any]) -> None:
        """Find out which tensors are looked at or told of, and where each row is in them."""
        plan = self._plan
        scanned = [row for row in plan.large if row not in plan.covers]
        tensors = [self._widened(self._here(self._items[row])) for row in scanned]
        plan.places = {row: (index, None) for index, row in enumerate(scanned)}
        if self._joins:
            self._join(scanned, tensors)
        else:
            plan.seen = [*([row] for row in scanned), *plan.packs]
            for index, rows in enumerate(plan.packs, len(scanned)):
                plan.places |= {row: (index, place) for place, row in enumerate(rows)}
            tensors += packs
            self._looked_at = tensors.copy()
        # Those of one shape are one after the other, so that they can be packed.
        for row in sorted(plan.covers, key=lambda row: str(plan.rows[row].shape)):
            plan.places[row] = len(tensors), None
            tensors.append(self._widened(self._here(self._items[row])))
        if plan.adaptive:
            self._add_inputs(tensors)
        self.tensors = tensors
        self._find_makers()

    def _join(self, rows: Sequence[int], tensors: Sequence[Any]) -> None:
        """Decide which rows are looked at together, and join their tensors."""
        together: dict[Any, list[int]] = {}
        bytes_of: dict[Any, int] = {}
        sizes = [estimated_bytes(tensor, self._place.dimension) for tensor in tensors]
        by_size = sorted(range(len(rows)), key=sizes.__getitem__)
        so_far = itertools.accumulate(sizes[index] for index in by_size)
        joined = {i for i, total in zip(by_size, so_far, strict=True) if total <= ALL_JOINED_BYTES}
        for index, (tensor, size) in enumerate(zip(tensors, sizes, strict=True)):
            if size > JOINED_BYTES or index not in joined:
                self._look_at([rows[index]], tensor)
                continue
            dtype = tensor.dtype.base_dtype
            if bytes_of.get(dtype, 0) + size > _TOGETHER_BYTES:
                self._look_at_joined(together.pop(dtype), rows, tensors)
                bytes_of[dtype] = 0
            together.setdefault(dtype, []).append(index)
            bytes_of[dtype] = bytes_of.get(dtype, 0) + size
        for some in together.values():
            self._look_at_joined(some, rows, tensors)

    def _look_at_joined(
        self, some: Sequence[int], rows: Sequence[int], tensors: Sequence[Any]
    ) -> None:
        """Look at some of the rows together, given by their places among all."""
        ops = self._ops
        joined = [tensors[index] for index in some]
        if len(some) > 1:
            shape = ops.constant([-1], tf.int32)
            flat = [t if t.shape.rank == 1 else ops.tensor("Reshape", t, shape) for t in joined]
            smallest = min(flat, key=lambda t: estimated_bytes(t, self._place.dimension))
            flat += [smallest] * (_FEWEST_IN_ONE_COPY - len(flat))
            joined = [ops.tensor("ConcatV2", flat, ops.constant(0, tf.int32))]
        self._look_at([rows[index] for index in some], joined[0])

    def _look_at(self, rows: list[int], tensor: Any) -> None:
        self._plan.seen.append(rows)
        self._looked_at.append(tensor)

    def _find_makers(self) -> None:
        """Find out what makes the rows of which more is told than whether they are bad NaN."""
        counted = set(self._plan.counted)
        for number in counted & set(range(len(self._items))):
            made_of, is_all = coverage.makers_of_nan(self._items[number].tensor.op)
            rows = [coverage.row_of(tensor, self._row_numbers) for tensor in made_of]
            known = [row for row in rows if row in counted]
            if known and not (is_all and len(known) < len(rows)):
                self._plan.makers[number] = Makers(known, is_all)

    def _add_inputs(self, tensors: list[Any]) -> None:
        """Let the details of a bad tensor include those of the inputs of its op."""
        plan = self._plan
        for number, item in enumerate(self._items):
            inputs = []
            for tensor in item.inputs:
                dtype = tensor.dtype.base_dtype
                if dtype.is_floating or dtype.is_complex:
                    row = self._row_numbers.get(tensor.name)
                    row = self._add_extra_row(tensor, tensors) if row is None else row
                    inputs += [row] if row is not None else []
            plan.inputs[number] = tuple(inputs)

    def _add_extra_row(self, tensor: Any, tensors: list[Any]) -> int | None:
        """Return the number of a new row for a tensor from outside of the group."""
        plan = self._plan
        row = self._input_row(tensor)
        here = self._place.tensor(tensor)
        if row is None or here is None:
            return None
        number = len(plan.all_rows)
        plan.extra_rows.append(row)
        plan.places[number] = len(tensors), None
        tensors.append(self._widened(here))
        self._row_numbers[tensor.name] = number
        return number
