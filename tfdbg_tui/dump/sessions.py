"""TensorFlow 1 sessions: a plain graph is instrumented when a session is about to run it.

A session computes only what its fetches need, so the tensors of each distinct set of fetches get
sinks of their own, which are fetched too.  Ops inside of v1 control flow (loops and branches made
of Enter, Switch and Merge) are not observed: their tensors must not leave it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class SessionSinks:
    """Finds the sinks to fetch along with what a program fetches.

    Args:
        instrument: Adds sinks for some ops of a graph and returns them.
    """

    def __init__(self, instrument: Callable[[Any, set[str]], list[Any]]) -> None:
        self._instrument = instrument

    def sinks(self, graph: Any, fetches: Any, feeds: Any) -> list[Any]:
        """Return the sinks of all ops that a run needs, adding them to the graph if necessary."""
        fetched = [_operation(graph, f) for f in tf.nest.flatten(fetches, expand_composites=True)]
        flat_feeds = tf.nest.flatten(list(feeds or ()), expand_composites=True)
        fed = {_tensor_name(feed) for feed in flat_feeds}
        key = (frozenset(op.name for op in fetched), frozenset(fed))
        known = getattr(graph, "_tfdbg_tui_session_sinks", None)
        if known is None:
            known = graph._tfdbg_tui_session_sinks = {}
        found = known.get((id(self), key))
        if found is None:
            needed = _needed(fetched, fed)
            was_final = graph.finalized
            if was_final:
                graph._unsafe_unfinalize()
            found = known[id(self), key] = self._instrument(graph, needed)
            if was_final:
                graph.finalize()
        return list(found)


def _operation(graph: Any, fetch: Any) -> Any:
    element = graph.as_graph_element(fetch)
    return getattr(element, "op", element)


def _tensor_name(feed: Any) -> str:
    return str(feed if isinstance(feed, str) else feed.name)


def _needed(fetched: Iterable[Any], fed: set[str]) -> set[str]:
    """Return the names of the ops that run, outside of control flow."""
    needed: set[str] = set()
    todo = list(fetched)
    while todo:
        op = todo.pop()
        if op.name in needed:
            continue
        needed.add(op.name)
        # What is fed to a placeholder can be looked at without running it.
        inputs = [t for t in op.inputs if t.name not in fed or t.op.type == "Placeholder"]
        todo += [tensor.op for tensor in inputs]
        todo += op.control_inputs
    return needed
