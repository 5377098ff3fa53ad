"""Alerts: how many tensors hold NaN or ∞, what made them, and each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import (
    cards,
    graph_id_of,
    iteration_of,
    iteration_text,
    op_type_of,
    readable_function,
    stack_id_of,
)
from tfdbg_tui.query import kind_of
from tfdbg_tui.tui.panes.alert_rows import ALERTS
from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.functions import EAGER, told_functions
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.cells import in_lines, indented, joined, width_of
from tfdbg_tui.tui.widgets.chips import BRIEF, brief_beside, brief_text, flush_right, in_brief
from tfdbg_tui.tui.widgets.names import (
    Column,
    least_of,
    least_width,
    shortened,
    split_name,
    with_columns,
)
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from tfdbg_tui.diagnosis import (
        AlertGroup,
        Explanation,
        Finding,
        Headroom,
        Link,
        Location,
        TensorEvent,
    )
    from tfdbg_tui.tui.panes.alert_rows import AlertRow
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_MANY_LINES = 20  # a pane this tall can tell all of a cause; what is beyond is for the op types
_SOME_LINES = 5  # a pane this tall has room for a line about the chosen cause
_TEXT_LINES = 4  # of evidence, and of a fix
_ROWS = 3  # of causes that a low pane shows before it tells more of one
_OP_TYPES, _LEAST_OP_TYPES = 10, 3
_LONG_CHAIN = 12  # lines of the longest chain that is told with a cause, about
_LEAST_CHAIN = 6  # lines that are left, for the chain of a cause to be shown
_COUNT = 7  # width of a cause's number of alerts
_PLACE = 24  # width of a cause's line, where there is room
_WIDE = 70
_VERY_WIDE = 120  # a pane this wide tells of each cause which tensor it is about, and when
_LEAST_NAME = 16  # cells of a tensor's name
_TAIL = 28  # the last two parts of most names; longer ones take cells of the columns behind them
_NARROW = 24  # without room for the graph of an alert
_LEAST_GRAPH = 8
_LEAST_FUNCTION = 20  # where less is left, op types go instead
_BEHIND = {"suspect": "suspect", "benign": "harmless"}


class Alerts(Pane):
    """The Alerts pane."""

    EMPTY = "No NaN and no ∞ recorded."
    _name_width = _kinds_width = 0
    _columns: tuple[tuple[str, int], ...] = ()  # of each alert: what, and how wide it is
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
            self._name_width,
            self._kinds_width,
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
        kinds_width = self._kinds_width if room - self._kinds_width > _LEAST_NAME else 0
        name_width = min(self._name_width or room, room - kinds_width)
        facts, columns = self._facts_of(event), []
        left = room - kinds_width - name_width
        for title, fact_width in self._columns:
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

    def _facts_of(self, event: TensorEvent) -> dict[str, str]:
        """Return what is told of an alert beside its name, the most important first."""
        snapshot = self.snapshot
        graph_id = graph_id_of(snapshot.run, event)
        stack_id = stack_id_of(snapshot.run, event)
        op_type = readable_function(op_type_of(snapshot.run, event) or "")
        facts = {
            "function": snapshot.graph_name(graph_id) if graph_id else EAGER,
            "op type": op_type if graph_id else "",  # eager tensors are named by it
            "line": "" if stack_id is None else snapshot.line(stack_id),
            "step": snapshot.step_text(event).partition(" (")[0].removeprefix("made "),
            "iteration": iteration_text(iteration_of(snapshot.run, event)),
            # Of a loop in Python nothing else tells one execution from the next.
            "execution": "" if graph_id else f"exec {event.index:,}",
            "batch": snapshot.batch_text(event),
        }
        return {title: self.charset.safe(text) for title, text in facts.items()}

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`: what else there is of alerts gets what the names in view leave."""
        snapshot, focus = self.snapshot, self.session.focus
        found = [ALERTS.at(snapshot, focus, row) for row in rows]
        alerts = [ALERTS.event(snapshot, row) for row in found if row.alert is not None]
        names = [self.charset.safe(snapshot.tensor_name(event)) for event in alerts]
        kinds = (brief_text(snapshot.summary(event), self.charset) for event in alerts)
        self._kinds_width = 1 + max(map(cell_len, kinds), default=0)
        room = width - len(str(len(snapshot.alerts))) - self._kinds_width - 5
        self._name_width = self._width_of_names(names, room)
        left = room - self._name_width if self._name_width else 0
        facts = list(map(self._facts_of, alerts)) if left else []
        functions = told_functions([fact["function"] for fact in facts])
        all_eager = all(fact["execution"] for fact in facts)
        for fact, function in zip(facts, functions, strict=True):
            fact["function"] = function
            if not all_eager:  # a column for few of the rows would come and go
                fact["execution"] = ""
        self._columns = _widths(facts, left)
        if left:  # cells too few for another column are for names that are cut
            left -= sum(column for _, column in self._columns)
            self._name_width = min(max(map(cell_len, names)), self._name_width + left)

    def _width_of_names(self, names: Sequence[str], room: int) -> int:
        """Return how wide the column of names is; 0 where nothing has room beside it."""
        longest = max(map(cell_len, names), default=0)
        wide = min(longest, max(room * 3 // 5, min(least_of(names), _TAIL)))
        return wide if room >= _NARROW and room - wide >= _LEAST_GRAPH else 0

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
            place = self.charset.fit_path(_short(finding.location), _PLACE - 1)
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
        facts, between = self._facts_of(event), f" {self.charset.dot} "
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
        below = self._text(notes, width - 2, "dim")  # which stand in `!` as well
        return (*(((" " + line, "dim"),) for line in above), *closest, *below)[:height]

    def _closest(self, headroom: Headroom, width: int) -> tuple[Line, ...]:
        """Return which number is closest to the limit of its type, where and when."""
        event = headroom.event
        place = self.charset.safe(_short(headroom.location)) if headroom.location else ""
        name = self.charset.safe(self.snapshot.tensor_name(event))
        beside = width - cell_len(place) - 5
        room, below = (width - 2, place) if beside < least_width(name) else (beside, "")
        *above, name = shortened(name, room, self.charset)
        named: list[Cell] = [(" " + name, "strong"), ("" if below else place, "dim")]
        return (
            *self._text(f"Closest to {headroom.limit}, {headroom.among}:", width - 2, "dim"),
            *indented(above, 1, "strong"),
            joined(named, f" {self.charset.dot} "),
            *([((" " + self.charset.fit_path(below, width - 2), "dim"),)] if below else []),
            *self._text(headroom.number, width - 2, ""),
            *self.layer_line(event),
            ((" M", "key"), (" layers  ", "dim"), ("V", "key"), (" history", "dim")),
        )

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`."""
        snapshot = self.snapshot
        if not len(snapshot.alerts):
            return (((" " + self.charset.safe(self.EMPTY), "dim"),),)
        free = height - _MANY_LINES
        if free < _LEAST_OP_TYPES:
            return (self._kinds(snapshot),)
        more = free - self.row_count - _LONG_CHAIN  # else blank, where few causes are listed
        op_types = self._op_types(snapshot, width, min(free, max(_OP_TYPES, more)))
        return (self._kinds(snapshot), (), *op_types, ())

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: more of the chosen cause, of the first one where none is chosen."""
        snapshot = self.session.snapshot
        if snapshot is None or not self.row_count or height < _SOME_LINES:
            return ()
        found = ALERTS.at(snapshot, self.session.focus, self.cursor or 0)
        if found.group is None:
            return ()
        finding = found.group.finding
        room = max(10, width - 2)
        fix = f"fix: {cards.fix(finding)}" if finding.fix else ""
        if height < _MANY_LINES:
            causes = ALERTS.groups(snapshot, self.session.focus) or ()
            on_cause = found.alert is None
            free = height - 1 - min(len(causes) if on_cause else self.row_count, _ROWS)
            told = self._text(fix, room, "good", lines=free - 2)
            left = max(1, free - 1 - len(told))
            evidence = self._text(finding.evidence, room, "", lines=min(left, free - 1))
            alike = self._alike(found.group)
            facts = self._facts(found.group, width, finding.title if len(alike) > 1 else "")
            return (*facts, *evidence, *told)
        card = (
            (),
            *self._text(finding.title, room, "strong"),
            *self._named(finding, width),
            *self._text(finding.evidence, room, ""),
            *self._text(fix, room, "good"),
            *(() if self.cursor is None else (((" w", "key"), (" why", "dim")),)),
        )
        free = self.lines_left(height, len(card))
        why = self._text(finding.why, room, "dim", lines=free)
        return (*card, *why, *self._chain(finding, width, free - len(why)))

    def _chain(self, finding: Finding, width: int, lines: int) -> tuple[Line, ...]:
        """Return the tensors of a cause's chain, one a line, as far as lines are left.

        Args:
            finding: The cause.
            width: Cells of a line.
            lines: How many lines may be filled.
        """
        if lines < _LEAST_CHAIN:
            return ()
        room_of_links = lines - 3  # without what stands around them
        shown = finding.chain[:room_of_links]
        names = [self.charset.safe(self.snapshot.tensor_name(link.event)) for link in shown]
        room = width - BRIEF - 4
        name_width = room if width < _WIDE else min(room, max(map(cell_len, names)))
        links = [self._link(*link, name_width) for link in zip(shown, names, strict=True)]
        ends = accumulate(map(len, links))
        fitting = links[: sum(end <= room_of_links for end in ends)]
        more = len(finding.chain) - len(fitting)
        cut = (((f" {self.charset.ellipsis} {more:,} more", "faint"),),) if more else ()
        return ((), ((" chain", "dim"),), *chain.from_iterable(fitting), *cut)

    def _link(self, link: Link, name: str, width: int) -> tuple[Line, ...]:
        _, (told, style) = in_brief(link.summary, self.charset)
        is_bad = style == "bad"
        if is_bad:
            beside = width + BRIEF - 1 - least_width(name)
            told = brief_beside(link.summary, self.charset, beside)
        column = Column(told, BRIEF, flush_right=True, stays=is_bad)
        named = with_columns(name, width, [column], self.charset)
        (text,) = named.texts
        values = flush_right(text.strip(), len(text), style)
        return *indented(named.above, 2), (("  " + named.name, ""), *values, ("  ", ""))

    def _facts(self, group: AlertGroup, width: int, title: str = "") -> tuple[Line, ...]:
        """Return which tensor a cause is about, or its title, and where it is."""
        name, facts = self._name_and_place(group.finding)
        room = max(min(least_width(name), width - 2), width - cell_len(facts[0][0]) - 5)
        *above, told = (
            [self.charset.sentence(title)] if title else shortened(name, room, self.charset)
        )
        while True:
            line = joined([(f" {told}", "strong"), *facts], f" {self.charset.dot} ")
            if width_of(line) <= width or len(facts) == 1:
                break
            facts.pop()  # part of a line's number would be another one
        return *indented(above, 1, "strong"), line

    def _named(self, finding: Finding, width: int) -> tuple[Line, ...]:
        """Return lines with the name of a cause's tensor, and where it is."""
        name, facts = self._name_and_place(finding)
        *begin, end = self.name_in_full(name, (), width, " ")
        parts = [end, *((fact,) for fact in facts if fact[0])]
        first, *others = in_lines(parts, f" {self.charset.dot} ", width - 1)
        return (*begin, first, *(((" ", ""), *line) for line in others))

    def _name_and_place(self, finding: Finding) -> tuple[str, list[Cell]]:
        place = _short(finding.location) if finding.location else ""
        name = self.charset.safe(self.snapshot.tensor_name(finding.event))
        function = readable_function(finding.graph or "")
        facts = place, iteration_text(finding.iteration), function
        return name, [(self.charset.safe(fact), "dim") for fact in facts]

    def _text(
        self, text: str, width: int, style: str, *, lines: int = _TEXT_LINES
    ) -> tuple[Line, ...]:
        """Return a text in so many lines at most; what is cut ends in an ellipsis."""
        if lines < 1:
            return ()
        wrapped = self.charset.wrapped(self.charset.sentence(text), width, min(lines, _TEXT_LINES))
        return tuple(((" " + line, style),) for line in wrapped)

    def _kinds(self, snapshot: Snapshot) -> Line:
        """Return a chip for each kind of bad values, with the number of alerts that hold such.

        A filter leaves the numbers as they are: where it is for one kind, others stand out less.
        """
        chosen = kind_of(self.session.focus.filter_of(self.spec.name))
        more = "+" if snapshot.counted_alerts < len(snapshot.alerts) else ""
        inf, minus = self.charset.inf, self.charset.minus
        cells: list[Cell] = [(" ", "")]
        for label, field, kind in (
            ("NaN", "nan", "nan"),
            (f"{minus}{inf}", "neg_inf", "-inf"),
            (f"+{inf}", "pos_inf", "+inf"),
            (f"NaN or {inf}", "unknown", None),
        ):
            if count := getattr(snapshot.alert_counts, field):
                style = "chip-bad" if chosen in (None, kind) else "chip"
                cells += [(f" {label} {compact(count)}{more} ", style), (" ", "")]
        return tuple(cells)

    def _op_types(self, snapshot: Snapshot, width: int, number: int) -> tuple[Line, ...]:
        """Return the op types with most of the listed alerts, with bars, so many of them."""
        selected = ALERTS.selected(snapshot, self.session.focus)
        counts = selected.by_op_type if selected else snapshot.alerts_by_op_type
        types = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        most = types[0][1]
        bar_width = max(3, width // 5)
        names = [self.charset.safe(readable_function(name)) for name, _ in types[:number]]
        name_width = width - bar_width - 9
        if width >= _WIDE:  # else the numbers stand above those of the causes
            name_width = min(name_width, max(map(cell_len, names)))
        lines: list[Line] = []
        for name, (_, count) in zip(names, types[:number], strict=True):
            bar = self.charset.bars[-1] * max(1, round(bar_width * count / most))
            lines.append(
                (
                    (" " + self.charset.fit_name(name, name_width), ""),
                    (f"{compact(count):>6} ", "dim"),
                    (bar, "bad"),
                )
            )
        if len(types) > number:
            lines.append(((f" and {len(types) - number} more op types", "faint"),))
        return tuple(lines)


def _causes_in_words(snapshot: Snapshot) -> list[str]:
    """Return how many causes of each kind there are, and how many alerts are newer than them."""
    explanation = snapshot.explanation
    if explanation is None:
        return []
    kinds = Counter(group.kind for group in explanation.groups)
    newer = len(snapshot.alerts) - len(explanation.alerts)
    counts = (
        (kinds["root"], "root" if kinds["root"] == 1 else "roots"),
        (kinds["suspect"], "suspect" if kinds["suspect"] == 1 else "suspects"),
        (kinds["benign"], "harmless"),
        (newer, "newer"),
    )
    return [f"{number:,} {word}" for number, word in counts if number]


def _findings_by_title(explanation: Explanation) -> Mapping[str, Sequence[Finding]]:
    found = defaultdict(list)
    for group in explanation.groups:
        found[group.finding.title].append(group.finding)
    return found


def _widths(facts: Sequence[Mapping[str, str]], room: int) -> tuple[tuple[str, int], ...]:
    """Return the columns for facts, by title: the first gets what there is, others all or nothing.

    A long function leaves the cells that op types take, where enough of it remains.

    Args:
        facts: What there is of each alert in view.
        room: Cells for all columns.
    """
    chosen: list[tuple[str, int]] = []
    op_types = max((cell_len(fact["op type"]) + 1 for fact in facts), default=0)
    for title in facts[0] if facts else ():
        longest = max(cell_len(fact[title]) for fact in facts)
        if longest and (not chosen or longest < room):
            beside = room - op_types
            shared = not chosen and beside >= _LEAST_FUNCTION
            chosen.append((title, min(longest + 1, beside if shared else room)))
            room -= chosen[-1][1]
    return tuple(chosen)


def _short(location: Location) -> str:
    name = location.file.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{location.line}"


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
