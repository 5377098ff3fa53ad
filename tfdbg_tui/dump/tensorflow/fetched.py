"""The arrays that a session hands out, as the recorder of executions sees eager tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorflow.python.framework import ops

from tfdbg_tui.dump.tensorflow import internals


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
        self._id = ops.uid()
        self.device = internals.full_device_name("/cpu:0")
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
