"""What leaves the process, without the ops that record.

Only v1 graphs and datasets hold any: the graphs of functions are never changed.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any

from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_experimental_dataset_ops

from tfdbg_tui.dump.tensorflow import internals
from tfdbg_tui.dump.tensorflow.function_defs import called_functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_log = logging.getLogger("tfdbg_tui")


@functools.cache
def keep_plain() -> None:
    """Let TensorFlow hand out v1 graphs and datasets without what was added to them.

    It stays so until the process ends: they outlive the dump.
    """
    ops.Graph._as_graph_def = _graph_plain(ops.Graph._as_graph_def)
    ops.Graph.get_operations = _operations_plain(ops.Graph.get_operations)
    dataset_ops.DatasetV2._as_serialized_graph = _dataset_plain(
        dataset_ops.DatasetV2._as_serialized_graph
    )
    context.Context.export_run_metadata = _metadata_plain(context.Context.export_run_metadata)
    for name in ("register_dataset_v2", "distributed_save"):
        sender = getattr(gen_experimental_dataset_ops, name)
        setattr(gen_experimental_dataset_ops, name, _sent_plain(sender))


def _graph_plain(original: Any) -> Any:
    @functools.wraps(original)
    def as_graph_def(graph: Any, *args: Any, **kwargs: Any) -> Any:
        graph_def, version = original(graph, *args, **kwargs)
        if not graph.building_function:
            _guarded(_make_plain, graph_def)
        return graph_def, version

    return as_graph_def


def _operations_plain(original: Any) -> Any:
    @functools.wraps(original)
    def get_operations(graph: Any) -> Any:
        operations = original(graph)
        if graph.building_function:
            return operations
        return [op for op in operations if not op.name.startswith(internals.OWN_SCOPE)]

    return get_operations


def _dataset_plain(original: Any) -> Any:
    @functools.wraps(original)
    def as_serialized_graph(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        serialized = original(dataset, *args, **kwargs)
        return _guarded(_plain_text, serialized) if context.executing_eagerly() else serialized

    return as_serialized_graph


def _metadata_plain(original: Any) -> Any:
    @functools.wraps(original)
    def export_run_metadata(this: Any) -> Any:
        metadata = original(this)
        graphs = list(metadata.partition_graphs)
        for function in metadata.function_graphs:
            graphs += [function.pre_optimization_graph, function.post_optimization_graph]
            graphs += function.partition_graphs
        for graph_def in graphs:
            _guarded(_make_plain, graph_def)
        return metadata

    return export_run_metadata


def _sent_plain(original: Any) -> Any:
    @functools.wraps(original)
    def send(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        plain = _guarded(_plain_dataset, dataset) if context.executing_eagerly() else dataset
        return original(plain, *args, **kwargs)

    return send


def _guarded(change: Callable[[Any], Any], subject: Any) -> Any:
    """Return what a function makes of a subject; the subject itself where it fails."""
    try:
        with internals.own_work():
            return change(subject)
    except Exception as error:
        _log.warning("tfdbg-tui: what is exported here may hold ops that record (%s)", error)
        return subject


def _plain_text(serialized: Any) -> Any:
    """Return the serialized GraphDef of a dataset; both are string tensors."""
    return internals.changed_graph(serialized, _make_plain)


def _plain_dataset(variant: Any) -> Any:
    """Return the variant tensor of a dataset that does the same and records nothing."""
    graph_def = internals.dataset_graph(variant)
    if not _holds_ours(graph_def):
        return variant
    _make_plain(graph_def)
    return internals.dataset_of(graph_def)


def _make_plain(graph_def: Any) -> None:
    """Make a GraphDef what it would be without us."""
    if not _holds_ours(graph_def):
        return
    functions = list(_plain_functions(graph_def.library.function))
    del graph_def.library.function[:]
    graph_def.library.function.extend(functions)
    nodes = [node for node in graph_def.node if internals.OWN_SCOPE not in node.name]
    for node in nodes:
        kept = [name for name in node.input if not _waits_for_ours(name)]
        if len(kept) < len(node.input):
            node.input[:] = kept
        for function in called_functions(node):
            function.name = internals.original_name(function.name)
    del graph_def.node[:]
    graph_def.node.extend(nodes)


def _waits_for_ours(reference: str) -> bool:
    return reference.startswith("^") and internals.OWN_SCOPE in reference


def _holds_ours(graph_def: Any) -> bool:
    return any(internals.OWN_SCOPE in node.name for node in graph_def.node) or any(
        function.signature.name != internals.original_name(function.signature.name)
        for function in graph_def.library.function
    )


def _plain_functions(functions: Any) -> Iterator[Any]:
    """Yield FunctionDefs, the program's in place of those that run instead of them."""
    names = {function.signature.name for function in functions}
    for function in functions:
        name = function.signature.name
        plain = internals.original_name(name)
        if plain == name and not name.startswith(internals.OWN_NAME):
            yield function
        elif plain != name and plain not in names:
            names.add(plain)
            yield internals.function_def(plain)
