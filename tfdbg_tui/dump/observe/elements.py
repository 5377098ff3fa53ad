"""The ops by which a graph hands over all elements of small tensors; see `encode.elements`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.group_plan import HandedOver
from tfdbg_tui.dump.tensorflow import functions, graph_ops, own

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_WORDS = 1 << 16
"""So many words of an execution are handed over at most."""

_WORD_BYTES = 4
_NARROW = (tf.float16, tf.bfloat16)


class Argument(NamedTuple):
    """A floating or complex tensor to hand over.

    Attributes:
        tensor: The tensor.
        shape: Its shape, as far as it is known for sure while tracing; else None.
    """

    tensor: Any
    shape: tuple[int, ...] | None

    @property
    def dtype(self) -> Any:
        """The type of its elements as they are handed over."""
        dtype = self.tensor.dtype.base_dtype
        return np.dtype(np.float32 if dtype in _NARROW else dtype.as_numpy_dtype)

    @property
    def words_each(self) -> int:
        """How many words an element takes."""
        return int(self.dtype.itemsize) // _WORD_BYTES

    @property
    def handed_over(self) -> HandedOver:
        """How it is handed over."""
        return HandedOver(self.dtype, self.shape)


def none() -> Any:
    """Return the words of an execution that hands over no elements."""
    return tf.constant([], tf.float32)


def are_few(arguments: Sequence[Argument]) -> bool | None:
    """Return whether some tensors have at most `MAX_WORDS`; None where that is not known."""
    known = [a.words_each * math.prod(a.shape) for a in arguments if a.shape is not None]
    if sum(known) > MAX_WORDS:
        return False
    return True if len(known) == len(arguments) else None


def words_if(row: Any, arguments: Sequence[Argument]) -> Any:
    """Return the words of some tensors where a row is there; else nothing is computed."""
    graph = own.new_graph()
    taken = [row, *(argument.tensor for argument in arguments)]
    graph.inputs = [
        graph_ops.new_input(graph, f"input_{place}", tensor.dtype, tensor.shape, tensor.device)
        for place, tensor in enumerate(taken)
    ]
    with graph.as_default():
        inner = [
            argument._replace(tensor=tensor)
            for argument, tensor in zip(arguments, graph.inputs[1:], strict=True)
        ]
        graph.outputs = [words_of(inner)]
    (words,) = functions.call(graph, taken)
    return words


def fit(words: Any) -> Any:
    """Return whether words are at most `MAX_WORDS`."""
    size = tf.raw_ops.Size(input=words, out_type=tf.int64)
    return tf.raw_ops.LessEqual(x=size, y=tf.constant(MAX_WORDS, tf.int64))


def words_of(arguments: Sequence[Argument]) -> Any:
    """Return the words of some tensors; see `encode.elements.Words`."""
    words = [_words(argument.tensor) for argument in arguments]
    if len(words) == 1 and arguments[0].shape is not None:
        return words[0]
    if arguments[0].shape is not None and len({a.handed_over for a in arguments}) == 1:
        return tf.raw_ops.Pack(values=words)
    vectors = [
        word if a.shape is not None and word.shape.rank == 1 else tf.reshape(word, [-1])
        for a, word in zip(arguments, words, strict=True)
    ]
    told = [tf.raw_ops.Shape(input=a.tensor) for a in arguments if a.shape is None]
    if told:
        ranks = tf.raw_ops.Pack(values=[tf.raw_ops.Size(input=shape) for shape in told])
        shapes = tf.concat([ranks, *told], axis=0)
        vectors.insert(0, tf.raw_ops.Cast(x=shapes, DstT=tf.float32))
    return tf.concat(vectors, axis=0)


def _words(tensor: Any) -> Any:
    dtype = tensor.dtype.base_dtype
    if dtype in _NARROW:
        return tf.raw_ops.Cast(x=tensor, DstT=tf.float32)
    return tensor if dtype == tf.float32 else tf.raw_ops.Bitcast(input=tensor, type=tf.float32)
