"""What the dump writer knows of a graph: kept on the graph, so that it lives as long."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

from tfdbg_tui.dump.tensorflow.private import declare

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATE = "_tfdbg_tui"
_OUTER_GRAPH = declare(FuncGraph, "outer_graph").name


@dataclass(slots=True)
class GraphState:
    """What is known of one graph.

    Attributes:
        is_own: Whether it was made for ops of ours.
        has_doubtful_shapes: Whether a shape was set by hand in it, or in a graph inside of it.
        takes_certain_elements: Whether it is a dataset's, and takes what is of the shapes known.
        recorded: What `observe.graphs` knows of it.
        sessions: What `observe.sessions` has added to it.
        copies: What runs in place of its functions in datasets: TensorFlow may still run those
            that the program has dropped.
        ops_with_copies: How many of its ops call copies, and its version then.
        calls_chosen: Whether one of these calls what TensorFlow may replace; see `function_copies`.
        programs_ops: How many ops it had, and which of them were the program's.
    """

    is_own: bool = False
    has_doubtful_shapes: bool = False
    takes_certain_elements: bool = False
    recorded: Any = None
    sessions: Any = None
    copies: list[Any] = field(default_factory=list)
    ops_with_copies: tuple[int, int] = (0, 0)
    calls_chosen: bool = False
    programs_ops: tuple[int, tuple[Any, ...]] = (0, ())


def state_of(graph: Any) -> GraphState:
    """Return what is known of a graph."""
    state = known_state(graph)
    if state is None:
        state = GraphState()
        setattr(graph, _STATE, state)
    return state


def known_state(graph: Any) -> GraphState | None:
    """Return what is known of a graph, or None where that is nothing."""
    state: GraphState | None = getattr(graph, _STATE, None)
    return state


def outer_graph(graph: Any) -> Any:
    """Return the graph around that of a function; None outside of functions."""
    return getattr(graph, _OUTER_GRAPH, None)


def doubt_shapes(graph: Any) -> None:
    """Note that a shape was set by hand in a graph: what the graph returns may have others."""
    # Outermost of all, where the program runs eagerly, is a graph that stays empty.
    while graph is not None and graph.version:
        state_of(graph).has_doubtful_shapes = True
        graph = outer_graph(graph)


@contextlib.contextmanager
def tracing_for_certain_elements() -> Iterator[None]:
    """Note that the function of a dataset is traced that takes what is of the shapes known."""
    before = _traced.around
    _traced.around = tf.compat.v1.get_default_graph()
    try:
        yield
    finally:
        _traced.around = before


def are_shapes_doubtful(graph: Any) -> bool:
    """Return whether tensors of a graph may have other shapes at run time than while tracing.

    Nothing checks a `set_shape`, nor what one function of a `tf.data` pipeline hands to the next.
    """
    while graph is not None:
        state = known_state(graph)
        if state is not None and state.has_doubtful_shapes:
            return True
        if _is_of_dataset(graph) and not _takes_certain_elements(graph):
            return True
        graph = outer_graph(graph)
    return False


def are_shapes_doubtful_now() -> bool:
    """Return whether a function that is called now may get other shapes than it is traced for."""
    return not tf.executing_eagerly() and are_shapes_doubtful(tf.compat.v1.get_default_graph())


class _Traced(threading.local):
    """What is traced in a thread.

    Attributes:
        around: The graph around that of the dataset's function; None where none is traced that
            takes what is of the shapes known.
    """

    around: Any = None


_traced = _Traced()


def _is_of_dataset(graph: Any) -> bool:
    return (getattr(graph, "name", None) or "").startswith("Dataset_")


def _takes_certain_elements(graph: Any) -> bool:
    state = state_of(graph)
    if _traced.around is not None and outer_graph(graph) is _traced.around:
        state.takes_certain_elements = True
    return state.takes_certain_elements
