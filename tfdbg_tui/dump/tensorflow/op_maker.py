"""How ops of ours are made in a graph: at once, of what TensorFlow stores.

TensorFlow's own functions look at each argument in Python, at the scopes around, and at who wants
to know of new ops, which takes five times as long; a training step gets hundreds of ops.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework.node_def_pb2 import NodeDef
from tensorflow.core.framework.tensor_pb2 import TensorProto
from tensorflow.python.framework.op_def_registry import get as op_def_of

from tfdbg_tui.dump.tensorflow import graph_ops, own

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


class OpMaker:
    """Makes ops in a graph, just where it is told: scopes of the program do not count.

    Args:
        graph: The graph.
        device: Name of the device that they are placed on; "" where TensorFlow decides.
        after: Ops that they wait for.

    Attributes:
        graph: The graph.
        device: The device.
    """

    def __init__(self, graph: Any, device: str = "", after: Sequence[Any] = ()) -> None:
        self.graph = graph
        self.device = device
        self._after = after

    def on(self, device: str) -> OpMaker:
        """Return what makes ops on another device."""
        return OpMaker(self.graph, device, self._after)

    def on_host(self) -> OpMaker:
        """Return what makes ops on the CPU, of the machine that the device is in."""
        return self.on(_host(self.device))

    def after(self, ops: Sequence[Any]) -> OpMaker:
        """Return what makes ops that wait for others."""
        return OpMaker(self.graph, self.device, ops)

    def op(self, op_type: str, *inputs: Any, **attrs: Any) -> Any:
        """Return a new op.

        Args:
            op_type: Its type.
            *inputs: What it takes: tensors, and lists of them where it takes several as one.
            **attrs: Those of its attributes that neither follow from its inputs nor are usual.
        """
        node = NodeDef(op=op_type, name=own.new_op_name(), device=self.device)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(graph_ops.attribute_value(value))
        if any(isinstance(given, list) for given in inputs):
            _note_lists(node, inputs)
        return graph_ops.add_node(self.graph, node, _flat(inputs), self._after)

    def tensor(self, op_type: str, *inputs: Any, **attrs: Any) -> Any:
        """Return the first output of a new op.

        Args:
            op_type: See `op`.
            *inputs: See `op`.
            **attrs: See `op`.
        """
        return self.op(op_type, *inputs, **attrs).outputs[0]

    def constant(self, value: Any, dtype: Any) -> Any:
        """Return a constant of a type that numpy has too."""
        array = np.asarray(value, dtype.as_numpy_dtype)
        return self.tensor("Const", dtype=dtype, value=_proto(array, dtype))


def _proto(array: npt.NDArray[Any], dtype: Any) -> Any:
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_content=array.tobytes())
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    return proto


def _flat(inputs: Sequence[Any]) -> list[Any]:
    lists = (given if isinstance(given, list) else [given] for given in inputs)
    return [tensor for tensors in lists for tensor in tensors]


def _note_lists(node: Any, inputs: Sequence[Any]) -> None:
    """Note how many tensors an op takes as one, or their types."""
    for argument, given in zip(op_def_of(node.op).input_arg, inputs, strict=True):
        if argument.number_attr:
            node.attr[argument.number_attr].i = len(given)
        elif argument.type_list_attr:
            types = [tensor.dtype.base_dtype.as_datatype_enum for tensor in given]
            node.attr[argument.type_list_attr].list.type.extend(types)


@functools.lru_cache(maxsize=256)
def _host(device: str) -> str:
    spec = tf.DeviceSpec.from_string(device)
    if spec.device_type == "CPU":
        return device
    return str(spec.replace(device_type="CPU", device_index=None).to_string())
