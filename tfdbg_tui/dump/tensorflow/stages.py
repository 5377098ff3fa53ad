"""Stages: TensorFlow's queues that graphs put tensors into, and all know by their names.

To put something into a stage costs a loop a third of what it costs with a queue: after that op,
which is asynchronous, TensorFlow goes on in another thread.

Each item is a matrix of int64 numbers, an int32 number and a vector of float32 words.  Many are
taken out by one function.  Where a stage is full, graphs wait for it in TensorFlow's threads, and
so that function must need none of them.

Sessions have stages of their own; see `session_stages`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow.core.framework.attr_value_pb2 import AttrValue
from tensorflow.core.framework.function_pb2 import FunctionDef
from tensorflow.python.framework.ops import EagerTensor

from tfdbg_tui.dump.tensorflow import functions, graph_ops
from tfdbg_tui.dump.tensorflow.resources import (
    CONTAINER,
    OfContexts,
    current_context,
    run_function,
    run_op,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfdbg_tui.dump.tensorflow.op_maker import OpMaker

TYPES = (tf.int64, tf.int32, tf.float32)
_TYPE_NUMBERS = [dtype.as_datatype_enum for dtype in TYPES]
_CAPACITY = 1 << 16
_MOST_AT_ONCE = 128
"""At most so many items are taken out by a function, or half as many and so on: its ops are
unrolled, so that none takes other numbers."""
_FIRST_AT_ONCE = 16
_WORDS_AT_ONCE = 1 << 16
"""After the first, about so many words are taken at once: they are copied, and to ask for much
memory takes long."""
_MAX_WORDS = 1 << 22
"""So many words of a part are enough."""

_takers, _marks = OfContexts(), OfContexts()


class Items(NamedTuple):
    """What was in a stage, in order.

    Attributes:
        numbers: The rows of their matrices.
        iterations: The int32 number of each.
        words: The words of all, one after the other, in several arrays.
        sizes: How many of them each has.
    """

    numbers: npt.NDArray[np.int64]
    iterations: npt.NDArray[np.int32]
    words: list[npt.NDArray[np.float32]]
    sizes: npt.NDArray[np.int32]


def put(ops: OpMaker, name: str, numbers: Any, number: Any, words: Any, *, is_bounded: bool) -> Any:
    """Return an op that puts an item into a stage.

    Args:
        ops: Makes it, on the CPU.
        name: The stage's.
        numbers: An int64 matrix.
        number: An int32 number.
        words: A float32 vector.
        is_bounded: Whether it waits where the stage is full.
    """
    capacity = _CAPACITY if is_bounded else 0
    values = [numbers, number, words]
    return ops.op("Stage", values, **_named(name), capacity=capacity)


def put_number(name: str, number: Any, columns: int) -> None:
    """Put an item of a number and one row of zeros into a stage; wait while it is full.

    Args:
        name: The stage's.
        number: The number, an int32 tensor.
        columns: How many zeros make a row.
    """
    row, words = _marks.get(current_context(), (columns,), _zeros)
    run_op("Stage", [row, number, words], _attributes(name), outputs=0)


def forget(context: Any) -> None:
    """Give back what was made for a context that the program has thrown away."""
    _takers.forget(context)
    _marks.forget(context)


def _zeros(columns: int) -> tuple[Any, Any]:
    """Return a row of zeros and no words."""
    row = EagerTensor(np.zeros((1, columns), np.int64), "/device:CPU:0", _TYPE_NUMBERS[0])
    words = EagerTensor(np.zeros(0, np.float32), "/device:CPU:0", _TYPE_NUMBERS[2])
    return row, words


def take_all(name: str, where: Any) -> Iterator[Items]:
    """Yield all that is in a stage, in parts that do not take much memory.

    Args:
        name: The stage's.
        where: The context of TensorFlow's that it is of.  In another one, which the program may
            have made meanwhile, nothing would be there, and it would be waited for without end.
    """
    (size,) = run_op("StageSize", [], _attributes(name), where=where)
    left = int(size.numpy())
    parts: list[Items] = []
    most, words = _FIRST_AT_ONCE, 0
    while left:
        count = 1 << min(left, most).bit_length() - 1
        if (
            count > 1 and where is current_context()
        ):  # another one knows no function that is made now
            part = _take_many(name, count, where)
        else:
            part, count = _take_one(name, where), 1
        taken = sum(map(len, part.words))
        most = min(_MOST_AT_ONCE, max(1, _WORDS_AT_ONCE * count // max(1, taken)))
        parts.append(part)
        left, words = left - count, words + taken
        if not left or words > _MAX_WORDS:
            yield _joined(parts)
            parts, words = [], 0


def _joined(parts: Sequence[Items]) -> Items:
    numbers, iterations, words, sizes = zip(*parts, strict=True)
    return Items(
        np.concatenate(numbers),
        np.concatenate(iterations),
        [array for arrays in words for array in arrays],
        np.concatenate(sizes),
    )


def _take_one(name: str, where: Any) -> Items:
    taken = run_op("Unstage", [], _attributes(name), outputs=len(TYPES), where=where)
    numbers, number, words = (tensor.numpy() for tensor in taken)
    return Items(numbers, number[None], [words], np.array([words.size], np.int32))


def _take_many(name: str, count: int, where: Any) -> Items:
    function = _takers.get(where, (name, count), taker)
    types = [*_TYPE_NUMBERS, tf.int32.as_datatype_enum]
    taken = run_function(function, [], types, where)
    numbers, iterations, words, sizes = (tensor.numpy() for tensor in taken)
    return Items(numbers, iterations, [words], sizes)


def _attributes(name: str) -> tuple[Any, ...]:
    named = ("container", CONTAINER, "shared_name", name)
    return ("dtypes", _TYPE_NUMBERS, *named, "capacity", _CAPACITY)


def taker(name: str, count: int) -> Any:
    """Return a function that takes items out of a stage.

    It is written as TensorFlow stores it: to trace it would take a tenth of a second.
    """
    made = FunctionWriter("taker")
    start = made.add("Const", dtype=tf.int32, value=tf.make_tensor_proto(0))
    items: list[str] = []
    for _ in range(count):
        after = [f"^{item}" for item in items[-1:]]
        items.append(made.add("Unstage", *after, **attributes_in_graph(name)))
    matrices, numbers, words = (
        [f"{item}:values:{slot}" for item in items] for slot in range(len(TYPES))
    )
    shapes = made.add("ShapeN", *words, N=count, T=tf.float32, out_type=tf.int32)
    sizes = [f"{shapes}:output:{item}" for item in range(count)]

    def give_joined(values: Sequence[str], dtype: Any) -> None:
        if count == 1:
            made.give(made.add("Identity", *values, T=dtype), dtype)
        else:
            inputs = *values, f"{start}:output:0"
            made.give(made.add("ConcatV2", *inputs, N=count, Tidx=tf.int32, T=dtype), dtype)

    give_joined(matrices, tf.int64)
    made.give(made.add("Pack", *numbers, N=count, T=tf.int32, axis=0), tf.int32)
    give_joined(words, tf.float32)
    give_joined(sizes, tf.int32)
    return functions.make_function(made.definition, [])


class FunctionWriter:
    """A function as TensorFlow stores it.

    Args:
        what: Part of its name.
    """

    def __init__(self, what: str) -> None:
        self.definition = FunctionDef()
        self.definition.signature.name = functions.new_name(what)
        self.definition.signature.is_stateful = True

    def add(self, op_type: str, *inputs: str, **attrs: Any) -> str:
        """Add a node; return its name.

        Args:
            op_type: The type of its op.
            *inputs: What it takes and waits for, as functions name these.
            **attrs: See `graph_ops.new_node`.
        """
        name = f"node_{len(self.definition.node_def)}"
        node = self.definition.node_def.add(name=name, op=op_type, input=inputs)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(graph_ops.attribute_value(value))
        return name

    def give(self, node: str, dtype: Any) -> None:
        """Add the first output of a node to those of the function."""
        name = f"output_{len(self.definition.ret)}"
        self.definition.signature.output_arg.add(name=name, type=dtype.as_datatype_enum)
        self.definition.ret[name] = f"{node}:output:0"


def attributes_in_graph(name: str) -> dict[str, Any]:
    """Return the attributes of an op of a graph that does something with a stage."""
    types = AttrValue(list=AttrValue.ListValue(type=_TYPE_NUMBERS))
    return {"dtypes": types, "capacity": _CAPACITY, "memory_limit": 0, **_named(name)}


def _named(name: str) -> dict[str, bytes]:
    return {"container": CONTAINER.encode(), "shared_name": name.encode()}
