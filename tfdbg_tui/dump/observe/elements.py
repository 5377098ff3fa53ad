"""The ops by which a graph hands over all elements of small tensors; see `encode.elements`."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.encode.elements import WORD_BYTES
from tfdbg_tui.dump.encode.group_plan import HandedOver
from tfdbg_tui.dump.encode.sent import SentTensors
from tfdbg_tui.dump.observe.observed import ALL_JOINED_BYTES, JOINED_BYTES, estimated_bytes
from tfdbg_tui.dump.tensorflow import functions
from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_WORDS = 1 << 16
"""So many words of an execution are handed over at most."""

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
        return int(self.dtype.itemsize) // WORD_BYTES

    @property
    def handed_over(self) -> HandedOver:
        """How it is handed over."""
        return HandedOver(self.dtype, self.shape)


def none(ops: OpMaker) -> Any:
    """Return the words of an execution that hands over no elements."""
    return ops.constant([], tf.float32)


def are_few(arguments: Sequence[Argument]) -> bool | None:
    """Return whether some tensors have at most `MAX_WORDS`; None where that is not known."""
    known = [a.words_each * math.prod(a.shape) for a in arguments if a.shape is not None]
    if sum(known) > MAX_WORDS:
        return False
    return True if len(known) == len(arguments) else None


def words_if(ops: OpMaker, there: Any, arguments: Sequence[Argument]) -> Any:
    """Return the words of some tensors where another one is there; else nothing is computed.

    Args:
        ops: Makes the op that computes them.
        there: The other tensor, which is in a branch.
        arguments: The tensors.
    """
    taken = [there, *(argument.tensor for argument in arguments)]
    graph = functions.graph_that_takes(taken)
    inner = [
        argument._replace(tensor=tensor)
        for argument, tensor in zip(arguments, graph.inputs[1:], strict=True)
    ]
    graph.outputs = [words_of(OpMaker(graph), inner)]
    (words,) = functions.call(ops, graph, taken)
    return words


def sent(ops: OpMaker, arguments: Sequence[Argument], dimension: int) -> tuple[Any, SentTensors]:
    """Return what is sent to the host for some tensors of an accelerator, and how it is read there.

    Each takes two ops that wait for each other, and a copy, so those of a type are sent together.

    Args:
        ops: Makes the ops, on the accelerator.
        arguments: The tensors.
        dimension: What an unknown dimension is taken to be.
    """
    joined: dict[Any, list[int]] = {}
    total = 0
    for index, argument in enumerate(arguments):
        size = estimated_bytes(argument.tensor, dimension)
        if size <= JOINED_BYTES and total + size <= ALL_JOINED_BYTES:
            joined.setdefault(argument.tensor.dtype, []).append(index)
            total += size
    several = [tuple(some) for some in joined.values() if len(some) > 1]
    together = {index for some in several for index in some}
    alone = [index for index in range(len(arguments)) if index not in together]
    how = SentTensors(tuple(several), tuple(alone), tuple(a.shape for a in arguments))
    tensors = [argument.tensor for argument in arguments]
    flat = ops.constant([-1], tf.int32)
    given = [
        _joined(ops, [ops.tensor("Reshape", tensors[index], flat) for index in some])
        for some in several
    ]
    unknown = [tensors[index] for index in how.of_unknown_shape]
    if unknown:
        ranks = ops.tensor("Pack", [ops.tensor("Rank", tensor) for tensor in unknown])
        given.insert(0, _joined(ops, [ranks, *(ops.tensor("Shape", tensor) for tensor in unknown)]))
    return [*given, *(tensors[index] for index in alone)], how


def are_too_many(ops: OpMaker, words: Any) -> Any:
    """Return whether words are more than `MAX_WORDS`."""
    size = ops.tensor("Size", words, out_type=tf.int64)
    return ops.tensor("Greater", size, ops.constant(MAX_WORDS, tf.int64))


def words_of(ops: OpMaker, arguments: Sequence[Argument]) -> Any:
    """Return the words of some tensors, a vector; see `encode.elements.Words`."""
    vectors = [
        vector
        for _, alike in itertools.groupby(arguments, lambda a: (a.tensor.dtype, a.shape))
        for vector in _vectors(ops, list(alike))
    ]
    unknown = [ops.tensor("Shape", a.tensor) for a in arguments if a.shape is None]
    if unknown:
        ranks = ops.tensor("Pack", [ops.tensor("Size", shape) for shape in unknown])
        shapes = _joined(ops, [ranks, *unknown])
        vectors.insert(0, ops.tensor("Cast", shapes, DstT=tf.float32))
    return _joined(ops, vectors)


def _vectors(ops: OpMaker, arguments: Sequence[Argument]) -> list[Any]:
    """Return the words of tensors of one type and shape, as one vector where that takes fewer ops.

    Args:
        ops: Makes the ops.
        arguments: The tensors.
    """
    first, tensors = arguments[0], [argument.tensor for argument in arguments]
    is_vector = first.tensor.dtype == tf.float32 and first.tensor.shape.rank == 1
    if len(tensors) > 1 and first.shape is not None and not is_vector:
        tensors = [ops.tensor("Pack", tensors)]
    is_known = first.shape is not None
    return [_vector(ops, _words(ops, tensor), is_known=is_known) for tensor in tensors]


def _words(ops: OpMaker, tensor: Any) -> Any:
    dtype = tensor.dtype.base_dtype
    if dtype in _NARROW:
        return ops.tensor("Cast", tensor, DstT=tf.float32)
    return tensor if dtype == tf.float32 else ops.tensor("Bitcast", tensor, type=tf.float32)


def _vector(ops: OpMaker, words: Any, *, is_known: bool) -> Any:
    """Return some words as a vector, which they may be already, if their shape is known."""
    if is_known and words.shape.rank == 1:
        return words
    return ops.tensor("Reshape", words, ops.constant([-1], tf.int32))


def _joined(ops: OpMaker, vectors: list[Any]) -> Any:
    if len(vectors) == 1:
        return vectors[0]
    return ops.tensor("ConcatV2", vectors, ops.constant(0, tf.int32))
