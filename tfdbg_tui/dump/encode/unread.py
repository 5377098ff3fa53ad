"""What an accelerator has counted of eager tensors, read many at a time.

Each read makes the program wait for the accelerator, so what it counted stays there until the
writer thread encodes the executions, or until too much is kept for it: the inputs of each op, which
are described where an output is bad.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdbg_tui.dump.tensorflow import own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.encode.executions import EagerValues

MAX_KEPT_BYTES = 64 << 20
"""So many bytes of tensors are kept at most."""
MAX_KEPT = 1024
"""The outputs of so many executions are left unread at most."""


class UnreadValues:
    """What is recorded of the outputs of one execution, once it is read.

    Args:
        reads: Those that are read together.
        vectors: The value vectors, and those of extremes, where they were computed.
        finish: Makes what is recorded of their elements; it holds the tensors of the op.
        kept_bytes: The bytes of these.
    """

    __slots__ = ("_finish", "_known", "_reads", "kept_bytes", "vectors")

    nbytes = 0  # in the queue of the writer thread

    def __init__(
        self,
        reads: UnreadOutputs,
        vectors: list[Any],
        finish: Callable[[Sequence[Any]], EagerValues],
        kept_bytes: int,
    ) -> None:
        self._reads = reads
        self.vectors = vectors
        self._finish: Callable[[Sequence[Any]], EagerValues] | None = finish
        self._known: EagerValues | None = None
        self.kept_bytes = kept_bytes

    def read(self) -> EagerValues:
        """Return what is recorded, waiting for the accelerator if necessary."""
        if self._known is None:
            self._reads.read()
        assert self._known is not None
        return self._known

    def give(self, vectors: Sequence[Any]) -> None:
        """Take the elements of the vectors, and let go of the tensors."""
        assert self._finish is not None
        self._known = self._finish(vectors)
        self._finish = None


class UnreadOutputs:
    """The outputs of all executions that are not read yet."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waiting: deque[UnreadValues] = deque()
        self._kept_bytes = 0

    def add(self, values: UnreadValues) -> None:
        """Keep what was computed until it is read; reads all where that is too much."""
        with self._lock:
            self._waiting.append(values)
            self._kept_bytes += values.kept_bytes
            if self._kept_bytes > MAX_KEPT_BYTES or len(self._waiting) >= MAX_KEPT:
                self.read()

    def read(self) -> None:
        """Read all, waiting once for each accelerator."""
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
            self._kept_bytes = 0
            arrays = iter(to_host([vector for values in waiting for vector in values.vectors]))
            for values in waiting:
                values.give([next(arrays) for _ in values.vectors])


def to_host(vectors: Sequence[Any]) -> list[Any]:
    """Return the elements of some vectors of one type, copied together from each device."""
    by_device: dict[str, list[int]] = {}
    for number, vector in enumerate(vectors):
        by_device.setdefault(vector.device, []).append(number)
    found: list[Any] = [None] * len(vectors)
    # No tape of the program's records what is done here.
    with own.work():
        for device, numbers in by_device.items():
            with tf.device(device):
                together = tf.concat([vectors[number] for number in numbers], 0)
            ends = np.cumsum([vectors[number].shape[0] for number in numbers])
            for number, array in zip(numbers, np.split(together.numpy(), ends[:-1]), strict=True):
                found[number] = array
    return found
