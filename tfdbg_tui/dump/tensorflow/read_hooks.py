"""A hook into what Python reads of eager tensors, to print it, say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.ops import _EagerTensorBase

from tfdbg_tui.dump.tensorflow.eager_tensor import tensor_id
from tfdbg_tui.dump.tensorflow.own_frames import LeftOutOfTracebacks
from tfdbg_tui.dump.tensorflow.private import declare

if TYPE_CHECKING:
    from tfdbg_tui.dump.tensorflow.listener import SafeListener
    from tfdbg_tui.dump.tensorflow.private import Wrappers

_NUMPY = declare(_EagerTensorBase, "_numpy", "self")
_NUMBERS = frozenset(
    np.dtype(kind.as_numpy_dtype).type
    for kind in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128)
)
_MOST_SHOWN = 1_000
"""Of arrays with more elements, NumPy shows a few."""

_LEFT_OUT = LeftOutOfTracebacks()


class ReadHooks:
    """Tells of NaN and ∞ that Python reads.

    Args:
        listener: Who is told.
    """

    def __init__(self, listener: SafeListener) -> None:
        self._listener = listener

    def wrappers(self) -> Wrappers:
        """Return what to wrap, and how."""
        return ((_NUMPY, self._telling),)

    def _telling(self, original: Any) -> Any:
        def numpy(tensor: Any) -> Any:
            with _LEFT_OUT:
                value = original(tensor)
            if _is_bad(value):
                self._listener.tell("bad_read", tensor_id(tensor))
            return value

        return numpy


def _is_bad(value: Any) -> bool:
    """Whether what is read is small enough to be shown whole, and holds NaN or ∞."""
    return (
        isinstance(value, (np.ndarray, np.generic))
        and value.dtype.type in _NUMBERS
        and value.size <= _MOST_SHOWN
        and not np.isfinite(value).all()
    )
