"""What graphs of a session put into its stages: each session has its own, as it has variables.

What is there is taken out by an op of the graph, which the session runs in the thread that asks:
its own threads may all be busy.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import NameAttrList
from tensorflow.core.protobuf.config_pb2 import RunOptions
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.client.session import BaseSession
from tensorflow.python.framework.ops import SymbolicTensor

from tfdbg_tui.dump.tensorflow import functions, own, stages
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker
from tfdbg_tui.dump.tensorflow.private import declare, method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COUNTS = (64, 32, 16, 8, 4, 2, 1)
"""So many items are taken out one after the other, each if there are as many: their sum at most."""
_TYPES = (*stages.TYPES, tf.int32)
"""Those of `stages.Items`."""

_RUN = declare(
    BaseSession,
    "_call_tf_sessionrun",
    *("self", "options", "feed_dict", "fetch_list", "target_list", "run_metadata"),
).name
_NEW_BUFFER = declare(pywrap_tf_session, "TF_NewBufferFromString").name
_as_tf_output = method(SymbolicTensor, "_as_tf_output")

extend = method(BaseSession, "_extend_graph")
"""Lets a session know the ops that its graph has by now, as it does itself when it runs."""


class SessionStage:
    """A stage of a session.

    Args:
        session: The session.
        fetches: What `fetches_in_graph` has returned.
    """

    def __init__(self, session: Any, fetches: Sequence[Any]) -> None:
        self._session = session
        self._fetches = fetches

    def take_all(self) -> Iterator[stages.Items]:
        """Yield all that is there, in parts that do not take much memory."""
        run = getattr(self._session, _RUN)
        is_all = False
        while not is_all:
            numbers, iterations, words, sizes = run(_in_this_thread(), {}, self._fetches, [], None)
            is_all = len(sizes) < sum(_COUNTS)
            yield stages.Items(numbers, iterations, [words], sizes)


def fetches_in_graph(graph: Any, name: str, columns: int) -> list[Any]:
    """Return what TensorFlow knows new tensors of a graph by: to compute them empties a stage.

    Args:
        graph: The graph.
        name: The stage's.
        columns: How many numbers the rows of its matrices have.
    """
    inner = own.new_graph()
    ops = OpMaker(inner, "/device:CPU:0")
    there = ops.tensor("StageSize", **stages.attributes_in_graph(name))
    size = ops.tensor("Minimum", there, ops.constant(sum(_COUNTS), tf.int32))
    nothing = _called(inner, _nothing(columns))
    taken: list[Any] = []
    for count in _COUNTS:
        bit = ops.tensor("BitwiseAnd", size, ops.constant(count, tf.int32))
        is_taken = ops.tensor("Cast", bit, DstT=tf.bool)
        taker = _called(inner, stages.taker(name, count))
        branches = {"then_branch": taker, "else_branch": nothing}
        after = ops.after(taken[-1:])
        taken.append(after.op("If", is_taken, [], **branches, Tin=[], Tout=list(_TYPES)))
    axis = ops.constant(0, tf.int32)
    parts = zip(*(op.outputs for op in taken), strict=True)
    inner.outputs = [ops.tensor("ConcatV2", list(values), axis) for values in parts]
    return [_as_tf_output(tensor) for tensor in functions.call_in_v1_graph(graph, inner).outputs]


def _called(graph: Any, function: Any) -> Any:
    """Return what ops of a graph call a function by."""
    functions.add_to_graph(graph, function)
    return NameAttrList(name=functions.function_name(function))


def _nothing(columns: int) -> Any:
    """Return a function that gives what a taker would of no items."""
    made = stages.FunctionWriter("nothing")
    for dtype, shape in zip(_TYPES, ((0, columns), (0,), (0,), (0,)), strict=True):
        value = tf.make_tensor_proto(np.zeros(shape, dtype.as_numpy_dtype))
        made.give(made.add("Const", dtype=dtype, value=value), dtype)
    return functions.make_function(made.definition, [])


@functools.cache
def _in_this_thread() -> Any:
    """Return options of a run, as TensorFlow takes them."""
    options = RunOptions(inter_op_thread_pool=-1).SerializeToString()
    return getattr(pywrap_tf_session, _NEW_BUFFER)(options)
