"""Alerts: how many tensors hold NaN or ∞, of which kind, and each of them in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import graph_id_of, name_of
from tfdbg_tui.tui.panes.base import Pane
from tfdbg_tui.tui.text import compact
from tfdbg_tui.tui.widgets.chips import BRIEF, brief

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.tui.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_MANY_LINES = 20  # a pane this tall has room for the op types as well
_OP_TYPES = 10


class Alerts(Pane):
    """The Alerts pane."""

    NAME = "alerts"
    TITLE = "Alerts"
    EMPTY = "No NaN and no ∞ recorded."

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        return row == self.cursor

    def row(self, row: int, width: int) -> tuple[Line, str]:
        """See `VirtualList`."""
        snapshot = self.session.snapshot
        assert snapshot is not None
        event = snapshot.alerts[row]
        focused = row == self.cursor
        bad = brief(snapshot.summary(event), self.charset)
        index_width = len(str(len(snapshot.alerts)))
        room = width - index_width - BRIEF - 4
        graph_id = graph_id_of(snapshot.run, event)
        where = snapshot.graph_name(graph_id) if graph_id else "eager"
        name_width = room if room < 24 else room * 3 // 5
        line: list[Cell] = [
            (self.charset.focus if focused else " ", "focus" if focused else ""),
            (f"{row + 1:>{index_width}} ", "dim"),
            (self.charset.fit_name(name_of(snapshot.run, event), name_width), ""),
        ]
        if room > name_width:
            line.append((" " + self.charset.fit(where, room - name_width - 1), "dim"))
        return (*line, *bad, (" ", "")), "focus" if focused else ""

    def summary(self) -> str:
        """See `Pane`."""
        snapshot = self.session.snapshot
        if snapshot is None or not len(snapshot.alerts):
            return ""
        total = f"{len(snapshot.alerts):,}"
        return total if self.cursor is None else f"{self.cursor + 1:,} of {total}"

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`."""
        snapshot = self.session.snapshot
        assert snapshot is not None
        kinds = self._kinds(snapshot)
        if height < _MANY_LINES:
            return (kinds,)
        return (kinds, (), *self._op_types(snapshot, width), ())

    def _kinds(self, snapshot: Snapshot) -> Line:
        counts = snapshot.alert_counts
        inf, minus = self.charset.inf, self.charset.minus
        more = "+" if snapshot.counted_alerts < len(snapshot.alerts) else ""
        cells: list[Cell] = [(" ", "")]
        for label, count in (
            ("NaN", counts.nan),
            (f"{minus}{inf}", counts.neg_inf),
            (f"+{inf}", counts.pos_inf),
            (f"NaN or {inf}", counts.unknown),
        ):
            if count:
                cells += [(f" {label} {compact(count)}{more} ", "chip-bad"), (" ", "")]
        return tuple(cells)

    def _op_types(self, snapshot: Snapshot, width: int) -> tuple[Line, ...]:
        """Return the op types with most alerts, with bars."""
        types = sorted(snapshot.alerts_by_op_type.items(), key=lambda item: (-item[1], item[0]))
        most = types[0][1]
        bar_width = max(3, width // 5)
        lines: list[Line] = []
        for name, count in types[:_OP_TYPES]:
            bar = self.charset.bars[-1] * max(1, round(bar_width * count / most))
            name_width = width - bar_width - 9
            lines.append(
                (
                    (" " + self.charset.fit_name(name, name_width), ""),
                    (f"{compact(count):>6} ", "dim"),
                    (bar, "bad"),
                )
            )
        if len(types) > _OP_TYPES:
            lines.append(((f" and {len(types) - _OP_TYPES} more op types", "faint"),))
        return tuple(lines)
