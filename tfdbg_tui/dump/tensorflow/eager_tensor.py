"""Eager tensors, and what looks like one to the recorder of executions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.dtensor.python.numpy_util import to_numpy
from tensorflow.python.eager.core import _NotOkStatusException
from tensorflow.python.framework.ops import EagerTensor, uid

from tfdbg_tui.dump.tensorflow import devices, own
from tfdbg_tui.dump.tensorflow.private import attribute, method

_numpy_internal = method(EagerTensor, "_numpy_internal")
_numpy = method(EagerTensor, "_numpy")

# Called for every eager op, so without a function of Python's around them.
tensor_id = attribute(EagerTensor, "_id")
"""Returns the number that no other eager tensor of the process has."""
datatype_enum = method(EagerTensor, "_datatype_enum")
"""Returns the DataType number."""
rank = method(EagerTensor, "_rank")
"""Returns the number of dimensions."""
num_elements = method(EagerTensor, "_num_elements")
"""Returns the number of elements."""


def is_eager(tensor: Any) -> bool:
    """Return whether a tensor has elements, and is not a symbolic one of a graph."""
    return isinstance(tensor, EagerTensor)


def elements(tensor: Any) -> Any:
    """Return a tensor's elements; without a copy where they are in this process's memory."""
    try:
        found = _numpy_internal(tensor)
    except _NotOkStatusException:
        with own.work():
            if devices.is_custom(tensor.device):  # Parts of it are on several devices.
                found = to_numpy(tensor)
            else:  # More dimensions than numpy can have.
                found = _numpy(tf.reshape(tensor, [-1]))
    return np.array(found, object) if isinstance(found, bytes) else found


def num_bytes(tensor: Any) -> int:
    """Return how much memory the elements of an eager tensor take."""
    size: int = num_elements(tensor) * _element_bytes(datatype_enum(tensor))
    return size


@functools.cache
def _element_bytes(number: int) -> int:
    """Return how many bytes an element of a type takes; 0 where that is not known."""
    return int(tf.as_dtype(number).size or 0)


class FetchedTensor:
    """An array that a session handed out.

    Args:
        fetch: The tensor of the graph.
        value: An array, or what stands for one without dimensions.
    """

    __slots__ = ("_array", "_id", "device", "dtype", "shape")

    def __init__(self, fetch: Any, value: Any) -> None:
        self.dtype = fetch.dtype.base_dtype
        self._array = np.asarray(value, object if self.dtype == "string" else None)
        self._id = uid()
        self.device = devices.own_cpu()
        self.shape = self._array.shape

    def _numpy_internal(self) -> Any:
        return self._array

    def _datatype_enum(self) -> int:
        number: int = self.dtype.as_datatype_enum
        return number

    def _rank(self) -> int:
        return self._array.ndim

    def _num_elements(self) -> int:
        return self._array.size
