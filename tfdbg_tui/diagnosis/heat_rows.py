"""Which row a tensor belongs to: its layer, its function, or the variable whose value it is."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import is_constant_or_count
from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.gradients import forward_ops, is_backward_op
from tfdbg_tui.diagnosis.layers import LayersOfOps
from tfdbg_tui.diagnosis.locations import user_frame
from tfdbg_tui.diagnosis.variable_values import VariableValues
from tfdbg_tui.logdir.index.output_place import OutputPlace
from tfdbg_tui.logdir.index.training_calls import is_backward_stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tfdbg_tui.logdir import ExecutionKind, GraphOp, Layer, Run, StackFrame, Variable
    from tfdbg_tui.logdir.index.columns import Int64Array

    BoolArray = npt.NDArray[np.bool_]

FORWARD, GRADIENT = range(2)
"""Sides of a row; of a variable, its values, and what is added to them."""

_READ_EACH, _SOME = 1000, 8
"""Of more executions of a line, no more than some are read to find out which variable it reads."""

_MAIN_GRAPH, _SCRIPT = "main graph", "<module>"

_EAGER = "eager ops"
"""The function of those of which no line of the user's is on record."""


class HeatRow(NamedTuple):
    """A layer, a variable, or, of what is in no layer, a function: of eager ops Python's.

    Attributes:
        name: Its name.
        layer: The layer, or that of the variable; None for a function.
        variable: The variable; None for others.
    """

    name: str
    layer: Layer | None
    variable: Variable | None = None

    @property
    def depth(self) -> int:
        """How many rows it is in."""
        layers = len(self.layer.parts) if self.layer else 0
        if self.variable is None:
            return max(0, layers - 1)
        return layers + bool(self.variable.slot_of)


class HeatRows:
    """The rows of a run, in order: each layer before its variables, then functions.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        layers = LayersOfOps(run)
        self._variables = VariableValues(run, layers.calls)
        self._numbers: dict[HeatRow, int] = {}
        self._of_variable: dict[Variable, int] = {}
        self._functions: dict[int, str] = {}
        self._add_layers()
        sites = range(run.graph_executions.num_sites)
        rows_of_sites = [self._row_of_site(number, layers) for number in sites]
        self._of_site = np.array(rows_of_sites, np.int64).reshape(-1, 3)
        self._are_constants_or_counts = np.array(
            [self._is_constant_or_count(number) for number in sites], bool
        )

    @property
    def rows(self) -> list[HeatRow]:
        """All rows in order."""
        return list(self._numbers)

    def of_sites(self, sites: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return row, side and output slot of each of some sites of graphs."""
        row, side, slot = self._of_site[sites].T
        return row, side, slot

    def are_constants_or_counts(self, sites: Int64Array) -> BoolArray:
        """Return which sites are of constants and counts: how large these are tells nothing."""
        found: BoolArray = self._are_constants_or_counts[sites]
        return found

    def of_places(self, rows: Int64Array, places: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return row and side of each of some outputs of executions.

        Args:
            rows: Index of each; shape [n].
            places: The number of its `OutputPlace`.
        """
        order = np.argsort(places, kind="stable")
        numbers, starts = np.unique(places[order], return_index=True)
        row, side = np.empty((2, len(rows)), np.int64)
        bounds = itertools.pairwise((*starts.tolist(), len(rows)))
        for number, (start, end) in zip(numbers.tolist(), bounds, strict=True):
            mine = order[start:end]
            row[mine], side[mine] = self._rows_of_place(number, rows[mine])
        steps = np.unique(self._run.executions.steps.numbers_of(rows))
        updates = self._variables.updates_in(steps, _READ_EACH)
        made = np.array([index for index, _ in updates], np.int64)
        for n in np.flatnonzero(np.isin(rows, made)).tolist():
            variable = updates.get((int(rows[n]), OutputPlace.of(int(places[n])).slot))
            if variable is not None:
                row[n], side[n] = self._of_variable[variable], GRADIENT
        return row, side

    def outer_rows(self) -> dict[int, list[int]]:
        """Return the rows of the layers around each layer."""
        numbers = {
            row.layer: n for row, n in self._numbers.items() if row.layer and row.variable is None
        }
        return {
            number: [numbers[outer] for outer in layer.parts[:-1] if outer in numbers]
            for layer, number in numbers.items()
        }

    def _add_layers(self) -> None:
        slots: dict[tuple[int, int], list[Variable]] = {}
        own: dict[Layer | None, list[Variable]] = {}
        for variable in self._variables.variables:
            if variable.slot_of:
                slots.setdefault((variable.file_set, variable.slot_of), []).append(variable)
            else:
                own.setdefault(variable.layer, []).append(variable)
        for layer in (*self._run.layers, None):
            if layer is not None:
                self._row(HeatRow(layer.name, layer))
            variables = own.get(layer, ())
            for variable, name in zip(variables, _names(variables), strict=True):
                self._add_variable(HeatRow(name, layer, variable))
                kept = slots.get(variable.key, ())
                for slot, slot_name in zip(kept, _names(kept), strict=True):
                    self._add_variable(HeatRow(slot_name, layer, slot))

    def _add_variable(self, row: HeatRow) -> None:
        assert row.variable is not None
        self._of_variable[row.variable] = self._row(row)

    def _row(self, row: HeatRow) -> int:
        return self._numbers.setdefault(row, len(self._numbers))

    def _row_of_site(self, number: int, layers: LayersOfOps) -> tuple[int, int, int]:
        site = self._run.graph_executions.site_by_id(number)
        value = self._variables.of_site(site)
        if value is not None:
            side = GRADIENT if value.is_update else FORWARD
            return self._of_variable[value.variable], side, site.output_slot
        op = self._run.op(site.graph_id, site.op_name)
        layer = layers.of(op) if op is not None else None
        side = GRADIENT if op is not None and is_backward_op(self._run, op) else FORWARD
        if layer is not None:
            return self._row(HeatRow(layer.name, layer)), side, site.output_slot
        known = site.graph_id in self._run.graphs
        graph = self._run.graphs[layers.calls.function_around(site.graph_id)] if known else None
        name = _function_name(graph.name) if graph else ""
        if not name and op is not None:
            name = self._python_function(op, layers)
        return self._row(HeatRow(name or _MAIN_GRAPH, None)), side, site.output_slot

    def _python_function(self, op: GraphOp, layers: LayersOfOps) -> str:
        """Return the Python function in which an op of TensorFlow 1 was made; "" for the script.

        That of a gradient is the function of its forward op.
        """
        is_gradient = is_backward_op(self._run, op)
        made = forward_ops(self._run, layers.calls, op) if is_gradient else {op}
        functions = {self._user_function(one.stack_id) for one in made}
        return functions.pop() if len(functions) == 1 else ""

    def _user_function(self, stack_id: int) -> str:
        if stack_id not in self._functions:
            frames = self._run.stack(stack_id)
            position = user_frame(frames)
            name = frames[position].function if position is not None else _SCRIPT
            self._functions[stack_id] = "" if name == _SCRIPT else name
        return self._functions[stack_id]

    def _is_constant_or_count(self, number: int) -> bool:
        site = self._run.graph_executions.site_by_id(number)
        return is_constant_or_count(self._run, self._run.op(site.graph_id, site.op_name))

    def _rows_of_place(self, number: int, executions: Int64Array) -> tuple[list[int], int]:
        """Return the row of each of some executions of a place, and their side."""
        place = OutputPlace.of(number)
        kind = self._run.executions.distinct_kinds[place.kind]
        frames = self._run.stack(place.stack)
        variables = self._variables_read(executions, kind)
        if all(variables):
            return [self._of_variable[one] for one in variables if one], FORWARD
        row = self._row_of_execution(kind, frames)
        if any(variables):
            return [self._of_variable[one] if one else row for one in variables], FORWARD
        side = GRADIENT if is_backward_stack(frames) else FORWARD
        return [row] * len(executions), side

    def _variables_read(
        self, executions: Int64Array, kind: ExecutionKind
    ) -> Sequence[Variable | None]:
        """Return the variable that each execution of a line reads: an optimizer's reads many."""
        count = len(executions)
        if not self._variables.are_read_by(kind):
            return [None] * count
        is_each_read = count <= _READ_EACH
        some = (
            executions if is_each_read else executions[np.linspace(0, count - 1, _SOME, dtype=int)]
        )
        found = [self._variables.of_execution(row, kind) for row in some.tolist()]
        if is_each_read:
            return found
        return found[:1] * count if len(set(found)) == 1 else [None] * count

    def _row_of_execution(self, kind: ExecutionKind, frames: Sequence[StackFrame]) -> int:
        layer = self._run.layer_of_kind(kind)
        if layer is not None:
            return self._row(HeatRow(layer.name, layer))
        if kind.is_function:
            return self._row(HeatRow(_function_name(kind.op_type), None))
        position = user_frame(frames)
        name = frames[position].function if position is not None else ""
        return self._row(HeatRow(name or _EAGER, None))


def _function_name(name: str) -> str:
    """Return the name of a function without whether it is one of a gradient."""
    return readable_function(name).partition(" (")[0]


def _names(variables: Sequence[Variable]) -> list[str]:
    """Return the names of variables beside one another: those of the same name are numbered.

    Where names alike are of several scopes, as in TensorFlow 1, the scopes tell them apart.
    """
    scoped = [variable.name for variable in variables]
    names = [name.rpartition("/")[2] for name in scoped]
    alike = {name for name, count in Counter(names).items() if count > 1}
    if len(set(scoped)) == len(scoped):
        return [s if name in alike else name for s, name in zip(scoped, names, strict=True)]
    times, so_far = Counter(names), Counter[str]()
    for place, name in enumerate(names):
        so_far[name] += 1
        if times[name] > 1:
            names[place] = f"{name} {so_far[name]}"
    return names
