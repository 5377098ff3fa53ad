"""Small numbers that TensorFlow adds to larger ones, in which they are lost, without the dump."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.events import summary_of
from tfdbg_tui.diagnosis.history import computed, dtype_of, magnitudes_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import EPSILON_LOST
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Graph, GraphOp

_TYPES = frozenset({"float32", "float64"})
_ADDS = frozenset({"AddV2", "Add"})
_SUMS = _ADDS | {"Sub"}
_BAD_AT_ZERO = {"Log": 0, "Rsqrt": 0, "Reciprocal": 0, "Inv": 0, "RealDiv": 1, "Div": 1}
"""Types of ops whose result is infinite where one of their inputs is 0, and which."""
_LOOKED_AT = 256  # measured computations
_NO_MORE = 1.001  # times the small number is what it is added to 0 to


class _Sum(NamedTuple):
    """An op that adds a small number to the sum or difference of a tensor and a larger number.

    Attributes:
        op: That op.
        small: What makes the small number.
        inner: The op that makes the sum or difference.
        large: What makes the larger number.
    """

    op: GraphOp
    small: GraphOp
    inner: GraphOp
    large: GraphOp


def find_lost_epsilons(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the sums (1 - x) + epsilon that were no more than epsilon, and are inverted.

    TensorFlow's graph optimizer computes (1 + epsilon) - x, where nothing looks at 1 - x.  It does
    so in graphs alone, and where nothing else uses 1 - x.
    """
    for graph in list(dataflow.run.graphs.values()):
        for name in [op.name for op in list(graph.ops.values()) if op.op_type in _ADDS]:
            found = _sum(graph, graph.ops[name])
            user = _inverted_by(graph, name)
            suspect = _suspect(dataflow, found, user) if found and user else None
            if suspect is not None:
                yield suspect


def _suspect(dataflow: Dataflow, found: _Sum, user: GraphOp) -> Suspect | None:
    """Return what is to be said of a sum, if it came to no more than its small number.

    Args:
        dataflow: Of the run.
        found: The sum.
        user: What inverts it, or takes its logarithm.
    """
    small, large = (_constant(dataflow, one) for one in (found.small, found.large))
    event = next(computed(dataflow, found.op.graph_id, found.op.name), None)
    dtype = dtype_of(dataflow.run, event) if event is not None else None
    if event is None or dtype not in _TYPES or not small or not large:
        return None
    if np.add(large, small, dtype=dtype) > np.add(large, 0.0, dtype=dtype):
        return None
    for row in magnitudes_of(dataflow, event).rows[:_LOOKED_AT].tolist():
        value = summary_of(dataflow.run, replace(event, index=row))
        least = value.minimum if value is not None else None
        if least is not None and 0 <= least <= _NO_MORE * small:
            evidence = (
                f"{found.op.name} adds {small:.3g} to a difference of {large:.3g} that came to 0, "
                f"and {user.op_type} takes the sum: in {dtype} {large:.3g} + {small:.3g} "
                f"is {large:.3g}"
            )
            first: TensorEvent = replace(event, index=row)
            return Suspect(first, EPSILON_LOST, Match("likely", evidence), 1)
    return None


def _sum(graph: Graph, op: GraphOp) -> _Sum | None:
    """Return how an op adds a constant to what another constant was added to; None if not."""
    outer = _with_constant(graph, op)
    if outer is None:
        return None
    small, inner = outer
    if inner.op_type not in _SUMS or len(graph.consumers(inner.name)) != 1:
        return None
    within = _with_constant(graph, inner)
    return _Sum(op, small, inner, within[0]) if within is not None else None


def _with_constant(graph: Graph, op: GraphOp) -> tuple[GraphOp, GraphOp] | None:
    """Return the constant and the other input of an op that takes one of each."""
    given = [graph.ops.get(one.op_name) for one in op.inputs]
    known = [one for one in given if one is not None]
    constants = [one for one in known if one.op_type == "Const"]
    others = [one for one in known if one.op_type != "Const"]
    return (constants[0], others[0]) if len(constants) == len(others) == 1 else None


def _inverted_by(graph: Graph, name: str) -> GraphOp | None:
    """Return the op that makes what an op gives infinite where that is 0; None where none does."""
    uses = ((graph.ops[use.op_name], use.input_slot) for use in graph.consumers(name))
    return next((op for op, slot in uses if _BAD_AT_ZERO.get(op.op_type) == slot), None)


def _constant(dataflow: Dataflow, op: GraphOp) -> float | None:
    """Return how large a constant is; None where that is not on record."""
    for event in computed(dataflow, op.graph_id, op.name):
        largest = magnitudes_of(dataflow, event).largest
        if largest.size:
            return float(largest[0])
    return None
