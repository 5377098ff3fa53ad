"""The alerts that the filter of Alerts selects: which, of which causes, and of which op types."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import TensorEvent
from tfdbg_tui.tui.session.snapshot import NOTHING_YET

if TYPE_CHECKING:
    import numpy.typing as npt

    from tfdbg_tui.diagnosis import AlertGroup
    from tfdbg_tui.query import Kind
    from tfdbg_tui.tui.panes.matching import Flags
    from tfdbg_tui.tui.session.snapshot import Snapshot

KINDS: tuple[Kind, Kind] = ("graph_execution", "execution")
"""The lists that alerts are in."""


class SelectedAlerts:
    """The alerts that a filter selects.

    Args:
        snapshot: What is shown.
        flags: Which of all alerts they are.

    Attributes:
        flags: Which of all alerts they are.
        positions: Their positions, ascending.
    """

    def __init__(self, snapshot: Snapshot, flags: Flags) -> None:
        self._alerts = snapshot.alerts
        self.flags = flags
        self.positions = np.flatnonzero(flags)
        self.of = lru_cache(maxsize=None)(self._of)

    def _of(self, group: AlertGroup) -> npt.NDArray[np.int64]:
        """Return the positions of those that go back to a cause."""
        return group.alerts[self.flags[group.alerts]]

    @cached_property
    def by_op_type(self) -> dict[str, int]:
        """Number of them by op type, most first."""
        return self._alerts.op_types_of(self.positions)


@lru_cache(maxsize=2)
def select_alerts(snapshot: Snapshot, keys: tuple[tuple[Kind, str], ...]) -> SelectedAlerts:
    """Return the alerts in rows that filters have selected so far.

    Args:
        snapshot: What is shown.
        keys: The list and the filter of each selection.
    """
    flags = np.zeros(len(snapshot.alerts), bool)
    for kind, text in keys:
        listed = snapshot.listed.get((kind, text), NOTHING_YET)
        bad = snapshot.events(kind).alert_rows[:]
        flags[snapshot.alerts.positions(kind)] = np.isin(bad, listed.rows)
        for row, slot in listed.unfit:
            position = snapshot.alerts.position(TensorEvent(kind, row, slot))
            if position is not None:
                flags[position] = False
    return SelectedAlerts(snapshot, flags)
