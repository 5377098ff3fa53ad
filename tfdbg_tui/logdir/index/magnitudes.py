"""The largest magnitudes on record: max |x| over the finite elements of tensors, now and then.

Of each are kept the row of its event, the execution that caused it, and the upper half of the
number: twelve bytes, with a relative error of a millionth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfdbg_tui.logdir.index.columns import AscendingColumn, Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.logdir.index.columns import AscendingView, ColumnView, Int64Array

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Some tensors whose largest magnitude is on record, in order of time.

    Attributes:
        rows: Index of the event of each.
        places: Number of its site, or for eager code of its `OutputPlace`.
        executions: Index of the execution that caused it; -1 where that is not known.
        largest: The largest magnitude of a finite element.
    """

    rows: Int64Array
    places: Int64Array
    executions: Int64Array
    largest: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, which: npt.NDArray[Any]) -> Magnitudes:
        """Return some of them: by their places here, or where a flag for each is True."""
        return Magnitudes(*(getattr(self, field.name)[which] for field in fields(self)))

    def by_place(self) -> Iterator[tuple[int, Magnitudes]]:
        """Yield each place and the magnitudes that it has, in order of time."""
        order = np.argsort(self.places, kind="stable")
        starts = np.flatnonzero(np.diff(self.places[order], prepend=-1))
        for which in np.split(order, starts)[1:]:
            yield int(self.places[which[0]]), self.some(which)


class MagnitudeLog:
    """The magnitudes of one file of events, grown chunk by chunk.

    Attributes:
        rows: Row of each in the file, ascending.
        serials: Of graphs, serial of the execution that caused it; 0 where it has none.
        slots: Of eager code, which output it is.
    """

    def __init__(self) -> None:
        self.rows = AscendingColumn()
        self.serials = Column()
        self.slots = Column()
        self._upper = Column()

    def extend(
        self,
        rows: Int64Array,
        largest: Floats,
        *,
        serials: Int64Array | None = None,
        slots: Int64Array | None = None,
    ) -> None:
        """Append magnitudes; see the attributes.

        Args:
            rows: Row of each, ascending; shape [n], as all.
            largest: The largest magnitude of a finite element of each.
            serials: Of graphs, serial of the execution that caused it; 0 where it has none.
            slots: Of eager code, which output it is.
        """
        self.rows.extend(rows)
        self._upper.extend(np.ascontiguousarray(largest).view(np.uint64) >> np.uint64(32))
        if serials is not None:
            self.serials.extend(serials & 0xFFFFFFFF)
        if slots is not None:
            self.slots.extend(slots)

    def view(self) -> MagnitudeLogView:
        """Return the magnitudes so far."""
        return MagnitudeLogView(
            self.rows.view(), self.serials.view(), self.slots.view(), self._upper.view()
        )


class MagnitudeLogView(NamedTuple):
    """The magnitudes that a `MagnitudeLog` held at some time; see there."""

    rows: AscendingView
    serials: ColumnView
    slots: ColumnView
    upper: ColumnView

    def largest(self, some: Int64Array) -> Floats:
        """Return some of the magnitudes."""
        return (self.upper.take(some).astype(np.uint64) << np.uint64(32)).view(np.float64)


def joined(parts: list[Magnitudes]) -> Magnitudes:
    """Return the magnitudes of several files in order of time."""
    if len(parts) == 1:
        return parts[0]
    columns = (
        np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Magnitudes)
    )
    found = Magnitudes(*columns)
    return found.some(np.argsort(found.rows, kind="stable"))
