"""The graphs of what runs, which TensorFlow collects for those who ask, without ops of ours.

As long as it does so, what another thread runs is mixed with what the program runs: the queue waits
(see `row_queue`).
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

from tensorflow.python.eager.context import Context

from tfdbg_tui.dump.tensorflow import exports, own, resources
from tfdbg_tui.dump.tensorflow.function_defs import called_functions
from tfdbg_tui.dump.tensorflow.private import Wrappers, declare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_SECONDS = 2.0
"""No longer than that anything waits for it to end: programs wait where the queue is full."""

_ENDS = {"_Arg", "_DeviceArg", "_Retval", "_DeviceRetval"}
"""What stands for the inputs and outputs of a graph."""


class _Collection:
    """Whether TensorFlow collects graphs, and since when by `time.monotonic`."""

    since: float | None = None


@functools.cache
def keep_plain() -> None:
    """Let TensorFlow hand out what it collects without ops of ours, until the process ends."""
    exports.wrap_for_good(_WRAPPERS)


def is_under_way() -> bool:
    """Return whether TensorFlow collects graphs, so that it is worth to wait for the end."""
    since = _Collection.since
    return since is not None and time.monotonic() - since < _MOST_SECONDS


def _noted(original: Any, since: Callable[[], float | None]) -> Any:
    @functools.wraps(original)
    def switch(this: Any) -> Any:
        _Collection.since = since()
        return original(this)

    return switch


def _begins(original: Any) -> Any:
    return _noted(original, time.monotonic)


def _ends(original: Any) -> Any:
    return _noted(original, lambda: None)


def _exported_plain(original: Any) -> Any:
    @functools.wraps(original)
    def export_run_metadata(this: Any) -> Any:
        metadata = original(this)
        if metadata is not None:
            exports.guarded(_make_plain, metadata)
        return metadata

    return export_run_metadata


def _make_plain(metadata: Any) -> None:
    """Make the graphs that TensorFlow has collected what they would be without us."""
    of_functions = [
        [graph.pre_optimization_graph, graph.post_optimization_graph, *graph.partition_graphs]
        for graph in metadata.function_graphs
    ]
    _make_all_plain(metadata.function_graphs, of_functions)
    _make_all_plain(metadata.partition_graphs, [[graph] for graph in metadata.partition_graphs])


def _make_all_plain(kept: Any, graph_defs: Sequence[Sequence[Any]]) -> None:
    """Make graphs plain, and leave out those of eager ops of ours.

    Args:
        kept: A repeated field.
        graph_defs: The GraphDefs of each of its parts; the first tells whose it is.
    """
    plain = []
    for part, graphs in zip(kept, graph_defs, strict=True):
        was_empty = not graphs[0].node
        for graph_def in graphs:
            exports.guarded(exports.make_plain, graph_def)
        has_none_left = not (was_empty or graphs[0].node)
        if not (has_none_left or _is_of_ours(graphs[0])):
            plain.append(part)
    del kept[:]
    kept.extend(plain)


def _is_of_ours(graph_def: Any) -> bool:
    """Whether a plain graph is that of an eager op of ours, or of a function that it calls."""
    nodes = [node for node in graph_def.node if node.op not in _ENDS]
    if len(nodes) == 1 and nodes[0].op.startswith("LookupTable"):  # It does not name the table.
        (node,) = nodes
        return (node.attr["Tin"].type, node.attr["Tout"].type) in resources.TABLE_TYPES
    shared = [node.attr["shared_name"].s.decode() for node in nodes if "shared_name" in node.attr]
    called = [function.name for node in nodes for function in called_functions(node)]
    return any(name.startswith(own.NAME) for name in (*shared, *called))


_WRAPPERS: Wrappers = (
    (declare(Context, "export_run_metadata"), _exported_plain),
    (declare(Context, "enable_run_metadata"), _begins),
    (declare(Context, "enable_graph_collection"), _begins),
    (declare(Context, "disable_run_metadata"), _ends),
    (declare(Context, "disable_graph_collection"), _ends),
)
