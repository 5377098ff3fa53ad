"""Eager tensors in the memory of an accelerator, looked at many at a time.

Each read makes the program wait for the accelerator, and each op takes Python as long as one of the
program's, so tensors stay unread until the writer thread encodes the executions, or until too much
is kept for it: the inputs of each op, too, which are described where an output is bad.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump import locks
from tfdbg_tui.dump.encode.summaries import HealthCounts
from tfdbg_tui.dump.tensorflow import device_looks
from tfdbg_tui.dump.tensorflow.eager_tensor import num_bytes, num_elements, tensor_id
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tfdbg_tui.dump.encode.executions import EagerValues

    _Counts = Sequence[HealthCounts] | None
    Finish = Callable[["UnreadValues", _Counts, Sequence[Any]], EagerValues]

MAX_KEPT_BYTES = 64 << 20
"""So many bytes of tensors are kept at most."""
MAX_KEPT = 1024
"""The outputs of so many executions are left unread at most."""


class UnreadValues:
    """What is recorded of the outputs of one execution, once it is read.

    A thousand may be there: it is one object, as Python's garbage collector goes through all.

    Args:
        reads: Those that are read together.
        finish: Makes what is recorded, given this one, the counts of the tensors that were left
            where they are, or None where all are healthy, and the extremes that are wanted.
        op_type: Type of the op.
        inputs: Eager tensors.
        outputs: Eager tensors.
        location: The serialized CodeLocation.
        looks: What is known of each output; None of one that was left in an accelerator's memory.
        measured: Whether to record the extremes of healthy outputs too.

    Attributes:
        tensors: The outputs that were left where they are.
    """

    __slots__ = (
        *("_finish", "_known", "_reads"),
        *("inputs", "location", "looks", "measured", "op_type", "outputs", "tensors"),
    )

    nbytes = 0  # in the queue of the writer thread

    def __init__(
        self,
        reads: UnreadOutputs,
        finish: Finish,
        op_type: str,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        location: bytes,
        looks: Sequence[EagerValues | None],
        *,
        measured: bool,
    ) -> None:
        self._reads = reads
        self._finish = finish
        self._known: EagerValues | None = None
        self.op_type = op_type
        self.inputs = inputs
        self.outputs = outputs
        self.location = location
        self.looks = looks
        self.measured = measured
        self.tensors = outputs
        if len(outputs) > 1:
            self.tensors = [t for t, look in zip(outputs, looks, strict=True) if look is None]

    @property
    def ordered(self) -> list[Any]:
        """Those of them of which the extremes are wanted: complex numbers have no order."""
        return [t for t in self.tensors if not t.dtype.is_complex] if self.measured else []

    @property
    def kept_bytes(self) -> int:
        """The bytes of all tensors of the op."""
        return sum([num_bytes(tensor) for tensor in (*self.inputs, *self.outputs)])

    def read(self) -> EagerValues:
        """Return what is recorded, waiting for the accelerator if necessary."""
        if self._known is None:
            self._reads.read()
        assert self._known is not None
        return self._known

    def give(self, counts: _Counts, ends: Sequence[Any]) -> None:
        """Take what was read, and let go of the tensors."""
        self._known = self._finish(self, counts, ends)
        self.inputs = self.outputs = self.looks = self.tensors = ()


class UnreadOutputs:
    """The outputs of all executions that are not read yet.

    Args:
        mode: A mode that watches health.
    """

    def __init__(self, mode: TensorDebugMode) -> None:
        self._mode = mode
        self._lock = locks.new()
        self._waiting: deque[UnreadValues] = deque()
        self._kept_bytes = 0

    def add(self, values: UnreadValues) -> None:
        """Keep outputs until they are read; reads all where that is too much."""
        with self._lock:
            self._waiting.append(values)
            self._kept_bytes += values.kept_bytes
            if self._kept_bytes > MAX_KEPT_BYTES or len(self._waiting) >= MAX_KEPT:
                self.read()

    def read(self) -> None:
        """Read all: wait once for each accelerator, and once more where something is bad."""
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
            self._kept_bytes = 0
            ordered = [tensor for values in waiting for tensor in values.ordered]
            ends = list(map(device_looks.extremes, ordered))
            parts = device_looks.chunks([tensor for values in waiting for tensor in values.tensors])
            if self._mode is TensorDebugMode.FULL_HEALTH:
                counted = parts
                arrays = device_looks.to_host([*ends, *self._counts(counted)])
            else:
                looks = map(device_looks.all_finite, parts)
                arrays = device_looks.to_host([*ends, *looks])
                are_finite = arrays[len(ends) :]
                counted = [part for part, (f,) in zip(parts, are_finite, strict=True) if not f]
                arrays[len(ends) :] = device_looks.to_host(self._counts(counted))
            found = iter(arrays)
            its_ends = [[next(found) for _ in values.ordered] for values in waiting]
            counts = self._by_tensor(counted, found)
            for values, own_ends in zip(waiting, its_ends, strict=True):
                values.give(_counts_of(values.tensors, counts), own_ends)

    def _counts(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        return [device_looks.counts(part, self._mode) for part in parts]

    def _by_tensor(
        self, parts: Sequence[Sequence[Any]], vectors: Iterable[Any]
    ) -> dict[int, HealthCounts]:
        """Return what was counted of each tensor, by its number."""
        known: dict[int, HealthCounts] = {}
        for part, vector in zip(parts, vectors, strict=True):
            found = device_looks.counts_in(vector, part, self._mode)
            known |= {tensor_id(t): HealthCounts(*c) for t, c in zip(part, found, strict=True)}
        return known


def _counts_of(tensors: Sequence[Any], known: Mapping[int, HealthCounts]) -> _Counts:
    """Return the counts of some tensors; None where there are of none, as all are healthy."""
    numbers = [tensor_id(tensor) for tensor in tensors]
    if not any(number in known for number in numbers):
        return None
    sizes = map(num_elements, tensors)
    return [known.get(n) or HealthCounts(size) for n, size in zip(numbers, sizes, strict=True)]
