"""What leaves the process, without the ops that record.

Only v1 graphs and datasets hold any: the graphs of functions are never changed.
"""

from __future__ import annotations

import functools
import logging
import re
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import tensorflow as tf
from tensorflow.python.client.session import BaseSession
from tensorflow.python.eager.wrap_function import function_from_graph_def
from tensorflow.python.ops import gen_experimental_dataset_ops

from tfdbg_tui.dump.interrupts import is_interrupt
from tfdbg_tui.dump.tensorflow import functions, own
from tfdbg_tui.dump.tensorflow.function_defs import called_functions
from tfdbg_tui.dump.tensorflow.graph_state import state_of
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import Wrappers, declare
from tfdbg_tui.dump.tensorflow.session_callables import CALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.dump.tensorflow.listener import Listener

_log = logging.getLogger("tfdbg_tui")

_OUR_INPUT = re.compile(rf"(?:, )?\^?[^\s,()]*{own.SCOPE}[^\s,()]*")
"""An input that is ours in what a session tells of an op: `add = AddV2(x, ^tfdbg_tui/op_1)`."""

_BY_SERVICE = "a tf.data service runs it, which may be in another process"

listeners: WeakSet[Listener] = WeakSet()
"""Told of what could not be handed out plain, which may hold the ops of any of their dumps, and of
what records nothing where it runs."""


@functools.cache
def keep_plain() -> None:
    """Let TensorFlow hand out v1 graphs and datasets without what was added to them.

    It stays so until the process ends: they outlive the dump.
    """
    wrap_for_good(_PLAIN)


def wrap_for_good(wrappers: Wrappers) -> None:
    """Put wrappers in place of what is declared, until the process ends."""
    for declaration, wrapper in wrappers:
        original = getattr(declaration.owner, declaration.name)
        setattr(declaration.owner, declaration.name, wrapper(original))


def _graph_plain(original: Any) -> Any:
    @functools.wraps(original)
    def as_graph_def(graph: Any, *args: Any, **kwargs: Any) -> Any:
        with LeftOutOfTracebacks():
            graph_def, version = original(graph, *args, **kwargs)
        if not graph.building_function:
            guarded(make_plain, graph_def)
        return graph_def, version

    return as_graph_def


def _operations_plain(original: Any) -> Any:
    @functools.wraps(original)
    def get_operations(graph: Any) -> Any:
        operations = original(graph)
        if graph.building_function:
            return operations
        state = state_of(graph)
        seen, plain = state.programs_ops  # A graph that grows with each run has many.
        if seen < len(operations):
            new = operations[seen:]
            plain += tuple(op for op in new if not op.name.startswith(own.SCOPE))
            state.programs_ops = len(operations), plain
        return list(plain)

    return get_operations


def _operations_property_plain(original: Any) -> Any:
    return property(_operations_plain(original.fget))


def _number_plain(original: Any) -> Any:
    @functools.wraps(original)
    def num_operations(graph: Any) -> Any:
        # AutomaticControlDependencies takes it for an index of what `get_operations` returns.
        return original(graph) if graph.building_function else len(graph.get_operations())

    return num_operations


def _dataset_plain(original: Any) -> Any:
    @functools.wraps(original)
    def as_serialized_graph(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        with LeftOutOfTracebacks():
            serialized = original(dataset, *args, **kwargs)
        return guarded(_plain_text, serialized) if tf.executing_eagerly() else serialized

    return as_serialized_graph


def _session_plain(original: Any) -> Any:
    @functools.wraps(original)
    def run(
        this: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        with LeftOutOfTracebacks():
            values = original(this, fetches, feed_dict, options, run_metadata)
        if run_metadata is not None:
            guarded(_make_run_plain, run_metadata)
        return values

    return run


def _callable_plain(original: Any) -> Any:
    @functools.wraps(original)
    def call(this: Any, *args: Any, **kwargs: Any) -> Any:
        with LeftOutOfTracebacks():
            values = original(this, *args, **kwargs)
        if kwargs.get("run_metadata") is not None:
            guarded(_make_run_plain, kwargs["run_metadata"])
        return values

    return call


def _make_run_plain(metadata: Any) -> None:
    """Make what a session tells of a run what it would be without us."""
    for graph_def in metadata.partition_graphs:
        _restore_copies(graph_def)
        _bypass_ours(graph_def)
        make_plain(graph_def)
    for device in metadata.step_stats.dev_stats:
        _restore_names(device.node_stats, "node_name", "timeline_label")
        _keep(device.node_stats, lambda node: not _is_our_name(node.node_name))
        for node in device.node_stats:
            if own.SCOPE in node.timeline_label:
                node.timeline_label = _OUR_INPUT.sub("", node.timeline_label).replace("(, ", "(")
    costs = metadata.cost_graph.node
    _restore_names(costs, "name")
    ours = {node.id for node in costs if _is_our_name(node.name)}
    _keep(costs, lambda node: node.id not in ours)
    for node in costs:
        _keep(node.input_info, lambda given: given.preceding_node not in ours)
        _keep(node.control_input, lambda number: number not in ours)


def _restore_copies(graph_def: Any) -> None:
    """Name the program's ops and functions, not those that run in place of them."""
    _restore_names(graph_def.node, "name")
    for node in graph_def.node:
        for names in (node.input, node.experimental_debug_info.original_func_names):
            if any(own.NAME in name for name in names):
                names[:] = [own.original_name(name) for name in names]


def _bypass_ours(graph_def: Any) -> None:
    """Let the program's ops take what ours only hand on to them, as in branches."""
    ours = {node.name: node.input for node in graph_def.node if _is_ours(node)}
    for node in graph_def.node:
        for place, reference in enumerate(node.input):
            while (made_by := reference.partition(":")[0]) in ours:
                slot = int(reference.partition(":")[2] or 0)
                if slot >= len(ours[made_by]):
                    break
                reference = ours[made_by][slot]
            node.input[place] = reference


def _restore_names(messages: Any, *fields: str) -> None:
    for message in messages:
        for name in fields:
            text = getattr(message, name)
            if own.SCOPE in text:
                setattr(message, name, own.original_name(text))


def _keep(repeated: Any, wanted: Callable[[Any], bool]) -> None:
    """Leave out those parts of a repeated field that are not wanted."""
    kept = [part for part in repeated if wanted(part)]
    if len(kept) < len(repeated):
        del repeated[:]
        repeated.extend(kept)


def _sent_plain(original: Any) -> Any:
    @functools.wraps(original)
    def send(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        plain = guarded(_plain_dataset, dataset) if tf.executing_eagerly() else dataset
        with LeftOutOfTracebacks():
            return original(plain, *args, **kwargs)

    return send


def _dataset_graph(variant: Any) -> Any:
    """Return the GraphDef of a dataset, whatever state it depends on."""
    ignore = tf.data.experimental.ExternalStatePolicy.IGNORE.value
    serialized = tf.raw_ops.DatasetToGraphV2(input_dataset=variant, external_state_policy=ignore)
    return tf.compat.v1.GraphDef.FromString(serialized.numpy())


def _changed_graph(serialized: Any, change: Callable[[Any], None]) -> Any:
    """Return a serialized GraphDef, which is a string tensor, after a change."""
    graph_def = tf.compat.v1.GraphDef.FromString(serialized.numpy())
    change(graph_def)
    return tf.convert_to_tensor(graph_def.SerializeToString())


def _dataset_of(graph_def: Any) -> Any:
    """Return the variant tensor of a new dataset with a GraphDef."""
    (output,) = (node.input[0] for node in graph_def.node if node.op == "_Retval")
    return function_from_graph_def(graph_def, [], output + ":0")()


def guarded(change: Callable[[Any], Any], subject: Any) -> Any:
    """Return what a function makes of a subject; the subject itself where it fails."""
    try:
        with own.work():
            return change(subject)
    except Exception as error:
        if is_interrupt(error):
            raise
        _log.warning("tfdbg-tui: what is exported here may hold ops that record (%s)", error)
        for listener in list(listeners):
            listener.exported_as_it_is(error)
        return subject


def _plain_text(serialized: Any) -> Any:
    """Return the serialized GraphDef of a dataset; both are string tensors."""
    return _changed_graph(serialized, make_plain)


def _plain_dataset(variant: Any) -> Any:
    """Return the variant tensor of a dataset that does the same and records nothing."""
    graph_def = _dataset_graph(variant)
    if not _holds_ours(graph_def):
        return variant
    for function in graph_def.library.function:
        name = own.original_name(function.signature.name)
        if name != function.signature.name:
            for listener in list(listeners):
                listener.function_left_out(name, _BY_SERVICE)
    make_plain(graph_def)
    return _dataset_of(graph_def)


def make_plain(graph_def: Any) -> None:
    """Make a GraphDef what it would be without us."""
    if not _holds_ours(graph_def):
        return
    plain = list(_plain_functions(graph_def.library.function))
    del graph_def.library.function[:]
    graph_def.library.function.extend(plain)
    if not graph_def.library.ByteSize():  # an empty message is another one than none
        graph_def.ClearField("library")
    nodes = [node for node in graph_def.node if not _is_ours(node)]
    for node in nodes:
        kept = [name for name in node.input if not _waits_for_ours(name)]
        if len(kept) < len(node.input):
            node.input[:] = kept
        for function in called_functions(node):
            function.name = own.original_name(function.name)
    del graph_def.node[:]
    graph_def.node.extend(nodes)


def _waits_for_ours(reference: str) -> bool:
    return reference.startswith("^") and own.SCOPE in reference


def _is_ours(node: Any) -> bool:
    """Whether a node is one of ours, or an argument of ours."""
    return _is_our_name(node.name)


def _is_our_name(name: str) -> bool:
    return own.SCOPE in name or name.startswith(own.NAME + "_")


def _holds_ours(graph_def: Any) -> bool:
    return any(map(_is_ours, graph_def.node)) or any(
        function.signature.name != own.original_name(function.signature.name)
        for function in graph_def.library.function
    )


def _plain_functions(definitions: Any) -> Iterator[Any]:
    """Yield FunctionDefs, the program's in place of those that run instead of them."""
    names = {function.signature.name for function in definitions}
    for function in definitions:
        name = function.signature.name
        plain = own.original_name(name)
        if plain == name and not name.startswith(own.NAME):
            yield function
        elif plain != name and plain not in names:
            names.add(plain)
            yield functions.function_def(plain)


_PLAIN: Wrappers = (
    (declare(tf.Graph, "_as_graph_def"), _graph_plain),
    (declare(tf.Graph, "get_operations"), _operations_plain),
    (declare(tf.Graph, "operations"), _operations_property_plain),
    (declare(tf.Graph, "num_operations"), _number_plain),
    (declare(tf.data.Dataset, "_as_serialized_graph"), _dataset_plain),
    (
        declare(BaseSession, "run", "self", "fetches", "feed_dict", "options", "run_metadata"),
        _session_plain,
    ),
    (CALL, _callable_plain),
    (declare(gen_experimental_dataset_ops, "register_dataset_v2"), _sent_plain),
    (declare(gen_experimental_dataset_ops, "distributed_save"), _sent_plain),
)
"""What hands graphs out, and what makes it hand out plain ones."""
