"""Which Keras layer or `tf.Module` an op is of; that of a gradient is of its forward op's."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tfdbg_tui.diagnosis.dataflow.calls import Calls
from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of, recorded_layer
from tfdbg_tui.diagnosis.gradients import forward_ops, is_backward_op
from tfdbg_tui.logdir.index.training_calls import is_backward_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfdbg_tui.logdir import GraphOp, Layer, Run

T = TypeVar("T")
_FROM_LAYER = 5  # ops from a layer to what is told to be made of its result: Keras' losses have 5
_HANDED_ON = frozenset({"Cast", "Identity", "Reshape", "Squeeze", "ExpandDims"})
"""Ops that only hand on what a layer is given: their gradient is that of the layer before."""
_RECURRENT = frozenset({
    "RNN", "SimpleRNN", "LSTM", "GRU", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D",
    "SimpleRNNCell", "LSTMCell", "GRUCell", "ConvLSTMCell", "StackedRNNCells",
})  # fmt: skip
"""Keras' classes; a cell of the user's own is called in an ``RNN``."""


class LayersOfOps:
    """The layers of the ops of a run; keeps what it has found out.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[tuple[str, str], Layer | None] = {}
        self._scopes: dict[str, dict[str, Layer | None]] = {}

    def of_event(self, event: TensorEvent) -> Layer | None:
        """Return the layer of the op that made a tensor; None where that is not recorded."""
        op = graph_op_of(self._run, event)
        return self.of(op) if op is not None else recorded_layer(self._run, event)

    def of(self, op: GraphOp) -> Layer | None:
        """Return the layer of an op of a graph; None where none is recorded."""
        if not is_backward_op(self._run, op):
            return op.layer
        key = op.graph_id, op.name
        if key not in self._known:
            self._known[key] = self._of_gradient(op) if self._run.layers else None
        return self._known[key]

    def given_to_forward(self, op: GraphOp, layer: Layer | None) -> Layer | None:
        """Return the layer whose result the op takes whose gradient an op is; see `layer_before`.

        Args:
            op: An op of a backward pass.
            layer: Its own layer.
        """
        forward_of_it = forward_ops(self._run, self.calls, op)
        if any(is_backward_op(self._run, forward) for forward in forward_of_it):
            return None
        hands_on = all(forward.op_type in _HANDED_ON for forward in forward_of_it)
        found = {
            layer_before(
                forward, self._sources, lambda source: source.layer, layer, in_any=hands_on
            )
            for forward in forward_of_it
        }
        return found.pop() if len(found) == 1 else None

    def _sources(self, op: GraphOp) -> Iterator[GraphOp]:
        """Yield what an op is made of, but for gradients: they are no result of their layer."""
        found = (self._run.op(op.graph_id, ref.op_name) for ref in op.inputs)
        return (one for one in found if one is not None and not is_backward_op(self._run, one))

    @cached_property
    def calls(self) -> Calls:
        """Which functions call which."""
        return Calls(self._run)

    def _of_gradient(self, op: GraphOp) -> Layer | None:
        layers = {forward.layer for forward in forward_ops(self._run, self.calls, op)}
        if len(layers) == 1:
            return layers.pop()
        return self._of_scope(op) or op.layer

    def _of_scope(self, op: GraphOp) -> Layer | None:
        """Return the layer of all ops in the name scope in which the forward op was made."""
        scopes = self._scopes.get(op.graph_id)
        if scopes is None:
            scopes = self._scopes[op.graph_id] = {}
            for other in list(self._run.graphs[op.graph_id].ops.values()):
                scope = other.name.rpartition("/")[0]
                same = scopes.setdefault(scope, other.layer) == other.layer
                scopes[scope] = other.layer if same else None
        return scopes.get(op.name.partition("gradient_tape/")[2].rpartition("/")[0])


def is_recurrent(layer: Layer | None) -> bool:
    """Return whether a layer goes from one step of time to the next, or is within such a one."""
    return layer is not None and any(part.class_name in _RECURRENT for part in layer.parts)


def layer_before(
    one: T,
    sources: Callable[[T], Iterable[T]],
    layer_of: Callable[[T], Layer | None],
    layer: Layer | None,
    *,
    in_any: bool = False,
) -> Layer | None:
    """Return the layer whose result something is made of, in its own layer or in none.

    None where its own layer is not around another, or there is more than one.

    Args:
        one: An op, or a tensor.
        sources: Returns what one is made of.
        layer_of: Returns the layer of one.
        layer: Its own.
        in_any: Whether it may be any other layer, and not only one within its own.
    """
    made = [one]
    for _ in range(_FROM_LAYER):
        made = list(dict.fromkeys(source for one in made for source in sources(one)))
        layers = {layer_of(one) for one in made} - {None, layer}
        if layers:
            found = layers.pop()
            inside = found is not None and (in_any or layer is None or layer in found.parts)
            return found if inside and not layers else None
    return None


def output_of(run: Run, layer: Layer, graph_id: str | None = None) -> TensorEvent | None:
    """Return the last tensor that was computed in a layer, going forward: as a rule its output.

    Args:
        run: The run.
        layer: The layer.
        graph_id: The graph to look in: a model has one for training and another for validation.
            None for any.
    """
    traces, executions = run.graph_executions, run.executions
    rows = [
        (row, site.output_slot)
        for site, number in list(run.site_numbers.items())
        for op in [run.op(site.graph_id, site.op_name)]
        if graph_id in (None, site.graph_id)
        if op is not None and _is_within(op.layer, layer) and not is_backward_op(run, op)
        for row in [traces.last_before(number, len(traces))]
        if row is not None
    ]
    if rows:
        return TensorEvent("graph_execution", *max(rows))
    if graph_id is not None:
        return None
    made = executions.of_kinds(lambda kind: _is_within(run.layer_of_kind(kind), layer)).tolist()
    forward = (row for row in reversed(made) if not _is_gradient(run, row))
    last = next(forward, None)
    return None if last is None else TensorEvent("execution", last, 0)


def _is_within(layer: Layer | None, outer: Layer) -> bool:
    return layer is not None and outer in layer.parts


def _is_gradient(run: Run, row: int) -> bool:
    return is_backward_stack(run.stack(int(run.executions.stack_ids[row])))


def breadcrumb(layer: Layer | None, separator: str = ">") -> str:
    """Return the layers that a layer is in, and what it is; "" for none.

    As ``classifier > encoder > wide (Dense, float16)``.
    """
    if layer is None:
        return ""
    return f"{f' {separator} '.join(part.name for part in layer.parts)} ({layer.kind})"


def layer_json(layer: Layer | None) -> dict[str, Any] | None:
    """Return a layer as JSON has it."""
    if layer is None:
        return None
    return {
        "path": layer.path,
        "class": layer.class_name,
        "dtype_policy": layer.dtype_policy,
        "compute_dtype": layer.compute_dtype,
    }
