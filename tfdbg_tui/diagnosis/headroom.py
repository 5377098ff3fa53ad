"""How far a run without NaN and ∞ is from them: its number that is closest to its type's limit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import dtype_of, measured_tensors
from tfdbg_tui.wire.dtypes import MAX_FINITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run

_ALL_BUT = 0.999  # of the limit is the limit itself, as masks and the beginnings of minima use it


@dataclass(frozen=True, slots=True)
class Headroom:
    """The number of a run that is closest to the largest one of its type.

    Attributes:
        event: The tensor that holds it.
        largest: Its magnitude.
        dtype: Name of its type.
    """

    event: TensorEvent
    largest: float
    dtype: str

    @property
    def limit(self) -> float:
        """The largest number of the type."""
        return MAX_FINITE[self.dtype]

    @property
    def powers(self) -> float:
        """How many powers of ten there are between the two."""
        return math.log10(self.limit / self.largest)


def headroom_of(run: Run) -> Headroom | None:
    """Return the number that is closest to the limit of its type; None where none is on record.

    Constants are left out, as they stay what they are, and gradients, as a loss scale makes them as
    large as they can be, on purpose.
    """
    closest_first = sorted(_largest(run), key=lambda found: found.powers)
    return next((found for found in closest_first if _may_grow(run, found.event)), None)


def _largest(run: Run) -> Iterator[Headroom]:
    """Yield the largest number of each tensor that has any but 0 and the limit."""
    for event, measured in measured_tensors(run):
        dtype = dtype_of(run, event) or ""
        limit = MAX_FINITE.get(dtype, 0.0)
        below = np.where(measured.largest < _ALL_BUT * limit, measured.largest, 0.0)
        place = int(below.argmax())
        if below[place]:
            row = int(measured.rows[place])
            yield Headroom(replace(event, index=row), float(below[place]), dtype)


def _may_grow(run: Run, event: TensorEvent) -> bool:
    return op_type_of(run, event) != "Const" and not is_backward(run, event)
