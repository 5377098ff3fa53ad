"""Which execution made an eager tensor, and which ones take it.

Tensor ids grow from one execution to the next, as far as one thread goes, so they are found by
bisection.
"""

from __future__ import annotations

import bisect
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.logdir import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfdbg_tui.logdir import Run

_NEAR = 64  # executions: how far ids may be out of order where threads mix
_NEXT = 4  # executions: how far after the last one found the next one is looked for
_AHEAD = 1024  # executions: how far ahead uses of an eager tensor are looked for


class EagerTensors:
    """Finds executions by the ids of eager tensors.

    Attributes:
        input_ids: Returns the ids of what an execution took; none where its record is damaged.
        output_ids: Returns the ids of what it made, likewise.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.input_ids = lru_cache(maxsize=1 << 16)(_readable(run.executions.input_tensor_ids))
        self.output_ids = lru_cache(maxsize=1 << 16)(_readable(run.executions.output_tensor_ids))
        self._output_slots = lru_cache(maxsize=1024)(self._read_output_slots)
        self._last_made = 0
        file_sets = {kind.file_set for kind in run.executions.distinct_kinds}
        self._one_process = len(file_sets) <= 1
        self._of_process = cache(self._find_of_process)

    def maker(self, tensor_id: int, before: int) -> TensorEvent | None:
        """Return the execution before another one that made an eager tensor, or None.

        Each process numbers its tensors by itself, so it is one of the same process.
        """
        own = self._of_same_process(before)
        return self._maker(tensor_id, own, bisect.bisect_left(own, before))

    def maker_in(self, file_set: int, tensor_id: int) -> TensorEvent | None:
        """Return the execution of a process that made an eager tensor, or None."""
        own = self._of_process(file_set)
        return self._maker(tensor_id, own, len(own))

    def _maker(self, tensor_id: int, own: Sequence[int], end: int) -> TensorEvent | None:
        # The inputs of an op are often made one after the other.
        near = range(self._last_made, min(end, self._last_made + _NEXT))
        place = self._made_by(tensor_id, own, near)
        if place is None:
            around = self._around(self._bisected(tensor_id, own, end), end)
            place = self._made_by(tensor_id, own, around)
        if place is None:
            return None
        self._last_made = place
        index = int(own[place])
        return TensorEvent("execution", index, self._output_slots(index)[tensor_id])

    def _of_same_process(self, index: int) -> Sequence[int]:
        """Return the executions of the process of one of them, ascending."""
        executions = self._run.executions
        if self._one_process:
            return range(len(executions))
        return self._of_process(executions.kind(index).file_set)

    def _find_of_process(self, file_set: int) -> Sequence[int]:
        """Return the executions of a process, ascending."""
        executions = self._run.executions
        if all(kind.file_set == file_set for kind in executions.distinct_kinds):
            return range(len(executions))
        found: list[int] = executions.of_kinds(lambda kind: kind.file_set == file_set).tolist()
        return found

    def _made_by(self, tensor_id: int, own: Sequence[int], candidates: Iterable[int]) -> int | None:
        """Return which of the executions of a process made an eager tensor, or None.

        Args:
            tensor_id: The tensor's.
            own: The executions of the process.
            candidates: The places among them to look at.
        """
        named = self._run.executions.naming(tensor_id, (own[place] for place in candidates))
        made = (index for index in named if tensor_id in self._output_slots(index))
        index = next(made, None)
        return None if index is None else bisect.bisect_left(own, index)

    def _bisected(self, tensor_id: int, own: Sequence[int], end: int) -> int:
        """Return near which execution an eager tensor was made, if ids are in order."""
        low, high = 0, end
        while low < high:
            middle = (low + high) // 2
            probe, last = self._last_output(own, middle, low)
            if last is None or last < tensor_id:
                low = middle + 1
            else:
                high = probe
        return low

    def users(self, tensor_id: int, after: int) -> Iterator[tuple[int, int]]:
        """Yield (execution, input slot) of the uses of an eager tensor soon after an execution."""
        own = self._of_same_process(after)
        start = bisect.bisect_right(own, after)
        for index in self._run.executions.naming(tensor_id, own[start : start + _AHEAD]):
            for slot, used in enumerate(self.input_ids(index)):
                if used == tensor_id:
                    yield index, slot

    def _read_output_slots(self, index: int) -> dict[int, int]:
        """Return which output of an execution each eager tensor that it made is."""
        ids = self.output_ids(index)
        return {ids[slot]: slot for slot in reversed(range(len(ids)))}

    def _last_output(self, own: Sequence[int], place: int, low: int) -> tuple[int, int | None]:
        """Return the nearest place at or before one where a tensor was made, and its last id."""
        for probe in range(place, max(low, place - _NEAR) - 1, -1):
            outputs = self.output_ids(own[probe])
            if outputs:
                return probe, outputs[-1]
        return place, None

    def _around(self, index: int, stop: int) -> Iterator[int]:
        yield from range(index, min(stop, index + _NEAR))
        yield from range(min(index, stop) - 1, max(0, index - _NEAR) - 1, -1)


def _readable(read: Callable[[int], tuple[int, ...]]) -> Callable[[int], tuple[int, ...]]:
    """Return a function that returns nothing for records that cannot be read."""

    def ids(index: int) -> tuple[int, ...]:
        try:
            return read(index)
        except UnreadableError:
            return ()

    return ids
