"""Alerts: how many tensors hold NaN or ∞, what made them, and each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.logdir.text import counted
from tfdbg_tui.query import kind_of
from tfdbg_tui.tui.panes.alert_columns import AlertColumns, choose_columns, facts_of
from tfdbg_tui.tui.panes.alert_counts import kind_chips, op_type_bars
from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.cause_summary import CauseSummary, paragraph
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import indented, joined
from tfdbg_tui.tui.widgets.chips import brief_beside, flush_right
from tfdbg_tui.tui.widgets.names import Column, least_width, shortened, split_name, with_columns
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from tfdbg_tui.diagnosis import AlertGroup, Explanation, Finding, Headroom, TensorEvent
    from tfdbg_tui.tui.panes.alert_rows import AlertRow
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_MANY_LINES = 20  # a pane this tall can tell all of a cause; what is beyond is for the op types
_SOME_LINES = 5  # a pane this tall has room for a line about the chosen cause
_ROWS = 3  # of causes that a low pane shows before it tells more of one
_OP_TYPES, _LEAST_OP_TYPES = 10, 3
_LONG_CHAIN = 12  # lines of the longest chain that is told with a cause, about
_COUNT = 7  # width of a cause's number of alerts
_PLACE = 24  # width of a cause's line, where there is room
_WIDE = 70
_VERY_WIDE = 120  # a pane this wide tells of each cause which tensor it is about, and when
_LEAST_NAME = 16  # cells of a tensor's name
_BEHIND = {"suspect": "suspect", "benign": "harmless"}


class Alerts(Pane):
    """The Alerts pane."""

    EMPTY = "No NaN and no ∞ recorded."
    _columns = AlertColumns()
    _told: Explanation | None = None  # whose causes are in the next attribute
    _by_title: Mapping[str, Sequence[Finding]] = {}

    @property
    def reason_when_empty(self) -> str:
        """See `Pane`."""
        reason, snapshot = super().reason_when_empty, self.session.snapshot
        if reason != self.EMPTY or snapshot is None or not snapshot.notes:
            return reason
        notes = " ".join(snapshot.notes).replace("\n", " ")
        return notes if snapshot.is_blind else f"{self.EMPTY} {notes}"

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        found = ALERTS.at(self.snapshot, self.session.focus, row)
        event = found.group.finding.event if found.group else None
        focus = self.session.focus
        filtered = focus.filter_of(ALERTS.PANE), ALERTS.num_listed(self.snapshot, focus)
        return (
            found,
            event in focus.open_causes,
            row == self.cursor,
            filtered,
            self._columns,
        )

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        found = ALERTS.at(self.snapshot, self.session.focus, row)
        focused = row == self.cursor
        mark: Cell = (self.charset.focus if focused else " ", "focus" if focused else "")
        if found.group is not None and found.alert is None:
            above, cells = self._cause(found.group, width - 1)
        else:
            above, cells = self._alert(found, width - 1)
        return DrawnRow((mark, *cells), "focus" if focused else "", above)

    def _alert(self, found: AlertRow, width: int) -> tuple[Sequence[Line], Line]:
        """Return the row of an alert: its number, tensor and graph, and what is bad in it.

        Before it stand the lines above it, if the name of the tensor needs any.
        """
        assert found.alert is not None
        snapshot = self.snapshot
        event = ALERTS.event(snapshot, found)
        indent = "  " if found.group else ""
        number_width = len(str(len(snapshot.alerts)))
        room = width - len(indent) - number_width - 2
        name = self.charset.safe(snapshot.tensor_name(event))
        kinds_width = self._columns.kinds if room - self._columns.kinds > _LEAST_NAME else 0
        name_width = min(self._columns.name or room, room - kinds_width)
        facts, columns = facts_of(snapshot, event, self.charset), []
        left = room - kinds_width - name_width
        for title, fact_width in self._columns.facts:
            columns.append(Column(facts[title], min(fact_width, left)))
            left -= columns[-1].width
        beside = room - 1 - least_width(name)
        bad = brief_beside(snapshot.summary(event), self.charset, beside)
        columns.append(Column(bad, kinds_width + left, flush_right=True, stays=True))
        named = with_columns(name, name_width, columns, self.charset)
        *texts, bad = named.texts
        number = f"{indent}{found.alert + 1:>{number_width}} "
        return indented(named.above, len(number) + 1), (
            (number, "dim"),
            (named.name, ""),
            *((text, "dim") for text in texts),
            *flush_right(bad.strip(), len(bad), "bad"),
            (" ", ""),
        )

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`."""
        snapshot = self.snapshot
        found = [ALERTS.at(snapshot, self.session.focus, row) for row in rows]
        alerts = [ALERTS.event(snapshot, row) for row in found if row.alert is not None]
        room = width - len(str(len(snapshot.alerts))) - 5
        self._columns = choose_columns(snapshot, alerts, room, self.charset)

    def _cause(self, group: AlertGroup, width: int) -> tuple[Sequence[Line], Line]:
        """Return the row of a cause: what happened, where, and how many alerts go back to it.

        Before it stand the lines above it, if the name of a tensor needs any.
        """
        finding = group.finding
        opened = finding.event in self.session.focus.open_causes
        fold = self.charset.unfolded if opened else self.charset.folded
        style = "strong" if group.kind == "root" else "dim"
        alerts = ALERTS.num_alerts(self.snapshot, self.session.focus, group)
        count = compact(alerts) if alerts else ""
        kind = _BEHIND.get(group.kind, "")
        behind = f"{kind} {count}".strip()
        count_width = max(_COUNT, len(behind) + 2)
        room = width - 2 - count_width
        cells: list[Cell] = [(f"{fold if count else ' '} ", "dim")]
        above, before = split_name(self._before_title(group), room // 2, width - 3, self.charset)
        place_width = _PLACE if width >= _WIDE and finding.location is not None else 0
        if before:
            beside_title = room - place_width - cell_len(finding.title) - 1
            most = max(least_width(before), beside_title)
            before = self.charset.fit_name(before, min(cell_len(before), most))
            cells.append((before + " ", style))
            room -= cell_len(cells[-1][0])
        title_width = max(0, room - place_width)
        if width >= _VERY_WIDE:
            title_width = min(title_width, self._longest_title() + 2)
            beside = room - place_width - title_width
            text = self._where(finding.event, beside, named=bool(before))
            told = (self.charset.fit(text, beside), "dim")
        else:
            told = ("", "")
        cells += [(self.charset.fit(finding.title, title_width), style), told]
        if place_width and finding.location is not None:
            place = self.charset.fit_path(finding.location.short, _PLACE - 1)
            cells.append((" " + self.charset.fit(place, _PLACE - 1), "dim"))
        bad = "bad" if group.kind == "root" else "dim"
        cells += [*flush_right(behind, count_width - 1, bad), (" ", "")]
        return indented(above, 3, style), tuple(cells)

    def _longest_title(self) -> int:
        groups = ALERTS.groups(self.snapshot, self.session.focus) or ()
        return max((cell_len(group.finding.title) for group in groups), default=0)

    def _where(self, event: TensorEvent, room: int, *, named: bool) -> str:
        """Return a tensor's name, its function and its step, and the batch where there is room.

        Args:
            event: The tensor.
            room: Cells for them: a longer name is cut before its last two parts.
            named: Whether its name is told already.
        """
        facts, between = facts_of(self.snapshot, event, self.charset), f" {self.charset.dot} "
        told = between.join(filter(None, (facts["function"], facts["step"])))
        name = "" if named else self.charset.safe(self.snapshot.tensor_name(event))
        with_batch = between.join(filter(None, (told, facts["batch"])))
        if cell_len(between.join(filter(None, (name, with_batch)))) <= room:
            told = with_batch
        if named:
            return told
        beside = room - cell_len(between + told)
        most = max(least_width(name), beside)
        name = self.charset.fit_name(name, min(cell_len(name), most))
        return between.join(filter(None, (name, told)))

    def _alike(self, group: AlertGroup) -> Sequence[Finding]:
        """Return the causes, itself among them, that have the title of a cause."""
        explanation = self.snapshot.explanation
        if explanation is not None and explanation is not self._told:
            self._told, self._by_title = explanation, _findings_by_title(explanation)
        return self._by_title[group.finding.title]

    def _before_title(self, group: AlertGroup) -> str:
        """Return what tells causes of one title apart: a tensor, or its step; "" for only one."""
        alike, snapshot = self._alike(group), self.snapshot
        if len(alike) < 2:
            return ""
        name = self.charset.safe(snapshot.tensor_name(group.finding.event))
        names = {snapshot.tensor_name(finding.event) for finding in alike}
        steps = {snapshot.step_text(finding.event) for finding in alike}
        if len(names) == 1 < len(steps):
            return snapshot.step_text(group.finding.event).partition(" (")[0]
        return name

    def summary(self) -> str:
        """See `Pane`."""
        snapshot, alert = self.session.snapshot, self.session.focus.alert
        if snapshot is None:
            return ""
        total, facts = len(snapshot.alerts), _causes_in_words(snapshot)
        if narrowed := self.filter_words() + self.sort_words():
            return narrowed.removeprefix(f" {self.charset.dot} ")
        if total:
            position = snapshot.alerts.position(alert) if alert else None
            number = f"{total:,}" if position is None else self.place_words(position + 1, total)
            facts.insert(0, number)
        return f" {self.charset.dot} ".join(facts)

    def head(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: where nothing is bad, also how far the numbers are from that.

        What is not on record is told before, for it might be bad.
        """
        snapshot = self.session.snapshot
        explanation = snapshot.explanation if snapshot else None
        if self.row_count or explanation is None or explanation.report.headroom is None:
            return super().head(width, height)
        reason = self.reason_when_empty
        told, notes = reason, ""
        if reason.startswith(self.EMPTY) and snapshot and not snapshot.gaps:
            told, notes = self.EMPTY, reason.removeprefix(self.EMPTY).strip()
        above = self.charset.wrapped(told, width - 2, height)
        closest = self._closest(explanation.report.headroom, width)
        if snapshot and snapshot.gaps and len(above) + len(closest) > height:
            return super().head(width, height)
        below = paragraph(notes, width - 2, "dim", self.charset)  # which stand in `!` as well
        return (*(((" " + line, "dim"),) for line in above), *closest, *below)[:height]

    def _closest(self, headroom: Headroom, width: int) -> tuple[Line, ...]:
        """Return which number is closest to the limit of its type, where and when."""
        event, told = headroom.event, "Closest to the limit of its type"
        place = self.charset.safe(headroom.location.short) if headroom.location else ""
        name = self.charset.safe(self.snapshot.tensor_name(event))
        beside = width - cell_len(place) - 5
        room, below = (width - 2, place) if beside < least_width(name) else (beside, "")
        *above, name = shortened(name, room, self.charset)
        named: list[Cell] = [(" " + name, "strong"), ("" if below else place, "dim")]
        return (
            *paragraph(f"{told}, without {headroom.left_out}:", width - 2, "dim", self.charset),
            *indented(above, 1, "strong"),
            joined(named, f" {self.charset.dot} "),
            *([((" " + self.charset.fit_path(below, width - 2), "dim"),)] if below else []),
            *paragraph(headroom.number, width - 2, "", self.charset),
            *self.layer_line(event),
            ((" M", "key"), (" layers  ", "dim"), ("V", "key"), (" history", "dim")),
        )

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`."""
        snapshot = self.snapshot
        if not len(snapshot.alerts):
            return (((" " + self.charset.safe(self.EMPTY), "dim"),),)
        chosen = kind_of(self.session.focus.filter_of(self.spec.name))
        chips = kind_chips(snapshot, chosen, self.charset)
        free = height - _MANY_LINES
        if free < _LEAST_OP_TYPES:
            return (chips,)
        more = free - self.row_count - _LONG_CHAIN  # else blank, where few causes are listed
        selected = ALERTS.selected(snapshot, self.session.focus)
        counts = selected.by_op_type if selected else snapshot.alerts_by_op_type
        bars = op_type_bars(counts, min(free, max(_OP_TYPES, more)), width, self.charset)
        return (chips, (), *bars, ())

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: more of the chosen cause, of the first one where none is chosen."""
        snapshot = self.session.snapshot
        if snapshot is None or not self.row_count or height < _SOME_LINES:
            return ()
        found = ALERTS.at(snapshot, self.session.focus, self.cursor or 0)
        if found.group is None:
            return ()
        finding = found.group.finding
        summary = CauseSummary(snapshot, finding, width, self.charset)
        if height < _MANY_LINES:
            causes = ALERTS.groups(snapshot, self.session.focus) or ()
            on_cause = found.alert is None
            free = height - 1 - min(len(causes) if on_cause else self.row_count, _ROWS)
            title = finding.title if len(self._alike(found.group)) > 1 else ""
            return summary.in_few_lines(free, title)
        keys: Line = () if self.cursor is None else ((" w", "key"), (" why", "dim"))
        card = ((), *summary.card(), *((keys,) if keys else ()))
        return (*card, *summary.why(self.lines_left(height, len(card))))


def _causes_in_words(snapshot: Snapshot) -> list[str]:
    """Return how many causes of each kind there are, and how many alerts are newer than them."""
    explanation = snapshot.explanation
    if explanation is None:
        return []
    kinds = Counter(group.kind for group in explanation.groups)
    newer = len(snapshot.alerts) - len(explanation.alerts)
    told = [counted(kinds[kind], kind) for kind in ("root", "suspect") if kinds[kind]]
    others = ((kinds["benign"], "harmless"), (newer, "newer"))
    return told + [f"{number:,} {word}" for number, word in others if number]


def _findings_by_title(explanation: Explanation) -> Mapping[str, Sequence[Finding]]:
    found = defaultdict(list)
    for group in explanation.groups:
        found[group.finding.title].append(group.finding)
    return found


SPEC = PaneSpec(
    name="alerts",
    title="Alerts",
    short_title="Alerts",
    rows=ALERTS,
    view=Alerts,
    tile=1,
    companions=("graph_execution", "source_code"),
    keys=("first_alert", "why", "in_time", "next_alert", "bad_kind", "filter", "sort"),
    prefix="alert",
    total=lambda snapshot: len(snapshot.alerts),
    beside_why=frozenset({"wide"}),
)
