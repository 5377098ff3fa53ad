"""Why: the chain of a tensor, from its root to the tensor itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import device_of, readable_function
from tfdbg_tui.tui.panes.base import PaneSpec
from tfdbg_tui.tui.panes.chain_columns import (
    CAME_IN,
    LEAST_NAME,
    ChainColumns,
    choose_columns,
)
from tfdbg_tui.tui.panes.chain_origin import chain_origin
from tfdbg_tui.tui.panes.chain_pane import ChainPane
from tfdbg_tui.tui.panes.chain_rows import ROWS, fold_name
from tfdbg_tui.tui.panes.functions import EAGER, told_functions
from tfdbg_tui.tui.terminal.text import short_device
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.cells import indented, width_of
from tfdbg_tui.tui.widgets.names import Column, least_of, with_columns
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tfdbg_tui.diagnosis import Link
    from tfdbg_tui.tui.session.folding import FoldedRow
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_BESIDE_NAME = 14  # cells of the frame, and of the title, beside the name
_TALL = 10
_TEXTS = ("op type", "function", "came by")

_KINDS = {"root": "root", "suspect": "suspect", "benign": "harmless"}
_CAME_BY = {
    "graph": "",
    "argument": "argument",
    "call": "returned",
    "output": "returned",
    "branch": "branch",
    "loop": "loop",
    "forward": "forward",
    "eager": "eager",
    "variable": "variable",
    "replica": "replica",
    "earlier": "earlier",
}


class Why(ChainPane):
    """The Why pane."""

    _columns = ChainColumns()
    _counts: tuple[int, ...] = ()  # widths of the columns of counts; none where words are shorter

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        widths = self._columns, self._counts
        return self.session.focus.why, self._row(row), row == self.cursor, widths

    def _row(self, row: int) -> FoldedRow:
        return ROWS.rows(self.snapshot, self.session.focus)[row]

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        chain, here, focused = self.chain, self._row(row), row == self.cursor
        name, link = self._row_name(here), chain.links[here.last]
        inferred = any(found.inferred for found in chain.links[here.first : here.last + 1])
        cells: list[Cell] = [
            (self.charset.focus if focused else " ", ""),
            ("~ " if inferred else "  ", "match"),
        ]
        facts = self._columns.facts
        columns = [Column(self._text(title, here), width) for title, width in facts]
        named = with_columns(name, self._columns.name, columns, self.charset)
        style = "bad" if here.first == chain.start and chain.finding else ""
        above = indented(named.above, width_of(cells), style)
        cells.append((named.name, "dim" if here.folded else style))
        for (title, _), text in zip(facts, named.texts, strict=True):
            cells.append((text, self._style(title, here)))
        came_in = self._came_in(here) if self._columns.came_in else ()
        behind = "focus" if focused else ""
        return DrawnRow((*cells, *came_in, *self._values(link)), behind, above)

    def _row_name(self, here: FoldedRow) -> str:
        links = self.chain.links
        if here.folded:
            return f"{self.charset.folded} {fold_name(links, here)}"
        return self.charset.safe(self.snapshot.tensor_name(links[here.last].event))

    def _style(self, title: str, here: FoldedRow) -> str:
        if title == "function" and self._is_entered(here):
            return "call"
        return "bad" if title == "came by" and self._came_by(here) == "root" else "dim"

    def _text(self, title: str, here: FoldedRow) -> str:
        link = self.chain.links[here.first]
        if title == "came by":
            return self._came_by(here)
        if title == "op type":  # which eager tensors are named by
            told = not here.folded and link.event.kind == "graph_execution"
            return self.charset.safe(readable_function(link.op_type or "")) if told else ""
        if link.graph:
            return self.charset.safe(readable_function(link.graph))
        return EAGER if link.event.kind == "execution" else "main graph"

    def _is_entered(self, here: FoldedRow) -> bool:
        """Whether the row before is in another function."""
        links = self.chain.links
        return here.first > 0 and links[here.first - 1].graph != links[here.first].graph

    def _came_by(self, here: FoldedRow) -> str:
        chain = self.chain
        if here.first == chain.start and chain.finding is not None:
            if chain.finding.event != chain.links[chain.start].event:
                return ""
            origin = chain_origin(self.snapshot, chain)
            return origin.worker if origin else _KINDS[chain.kind]
        if here.first < chain.start and chain.finding is not None:
            return "input"
        link = chain.links[here.first]
        return "raised" if link.failed else _CAME_BY.get(link.via, "")

    def _came_in(self, here: FoldedRow) -> Line:
        """Return what came in, short, and an arrow to what came out."""
        chain = self.chain
        if not self._has_input(here):
            return ((" " * CAME_IN, ""),)
        summary = chain.links[here.first - 1].summary
        arrow: Cell = (f" {self.charset.right:2}", "faint")
        return (*chips.in_brief(summary, self.charset), arrow)

    def _has_input(self, here: FoldedRow) -> bool:
        """Whether the row before is what went into this one."""
        return here.first > 0 and (self.chain.finding is None or here.first >= self.chain.start)

    def _values(self, link: Link) -> Line:
        if link.failed:
            return ((self.charset.fit(" no value", sum(self._counts) or chips.BRIEF + 1), "faint"),)
        if self._counts:
            return chips.columns(link.summary, self.charset, self._counts)
        return (*chips.in_brief(link.summary, self.charset), (" ", ""))

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`: for the whole chain, so that scrolling changes nothing."""
        found = ROWS.rows(self.snapshot, self.session.focus)
        facts = {title: [self._text(title, row) for row in found] for title in _TEXTS}
        facts["function"] = told_functions(facts["function"])
        summaries = [self.chain.links[row.last].summary for row in found]
        counts = chips.column_widths(summaries, self.charset)
        names, most = list(map(self._row_name, found)), width - 3
        least = max(LEAST_NAME, min(least_of(names), most - chips.BRIEF - 1))
        self._counts = counts if least + sum(counts) <= most else ()
        room = most - (sum(self._counts) or chips.BRIEF + 1)
        self._columns = choose_columns(names, facts, room)

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`."""
        facts = self._columns.facts
        titles = "".join(f" {title:{w - 1}}" for title, w in facts)
        if self._columns.came_in:
            titles += f"{'in':>{chips.BRIEF}}   "
        start: Cell = (f"   {'tensor':{self._columns.name}}{titles}", "dim")
        titled = (start, *chips.column_titles(self.charset, self._counts))
        return (*self._elsewhere(width), titled)

    def _elsewhere(self, width: int) -> tuple[Line, ...]:
        """Return a line with the chain in the process that made it, where that is another."""
        origin = chain_origin(self.snapshot, self.chain)
        if origin is None:
            return ()
        worker = self.charset.safe(origin.worker)
        chain = f" {self.charset.right} ".join([*origin.names, self.charset.ellipsis])
        text = self.charset.fit(f"{chain}  Enter goes there", max(0, width - len(worker) - 3))
        return (((f" {worker}: ", "call"), (text, "dim")),)

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: the chosen tensor in full, and what came in."""
        if not self.row_count or self.cursor is None or height < _TALL:
            return ()
        run, here = self.snapshot.run, self._row(self.cursor)
        link = self.chain.links[here.last]
        name = self.snapshot.tensor_name(link.event)
        facts = [
            (self.charset.safe(readable_function(link.op_type or "")), "dim"),
            (self.charset.safe(chips.size_and_type(link.summary)), "dim"),
            (self.charset.safe(short_device(device_of(run, link.event))), "dim"),
            ("~ inferred" if any(k.inferred for k in self.chain.links) else "", "match"),
        ]
        told = self.name_in_full(name, facts, width)
        lines = (*told, (("  ", ""), *self._in_and_out(here)))
        return self.on_blank_lines(lines, width, self.lines_left(height, len(lines)))

    def _in_and_out(self, here: FoldedRow) -> Line:
        chain = self.chain
        out = chips.chips(chain.links[here.last].summary, self.charset)
        if not self._has_input(here):
            return out
        given = chain.links[here.first - 1]
        if here.first == chain.start and chain.finding is not None and not given.is_bad:
            given = chain.links[0]  # Of a root all inputs are there: the first one tells most.
        came_in = chips.chips(given.summary, self.charset)
        return (*came_in, (f" {self.charset.right} ", "dim"), *out)

    def summary(self) -> str:
        """See `Pane`: whose chain it is."""
        snapshot, event = self.session.snapshot, self.session.focus.why
        if snapshot is None or event is None:
            return ""
        name = self.charset.safe(snapshot.tensor_name(event))
        room = max(LEAST_NAME, self.size.width - _BESIDE_NAME)
        return self.charset.fit_name(name, min(cell_len(name), room))


SPEC = PaneSpec(
    name="why",
    title="Why",
    short_title="Why",
    rows=ROWS,
    view=Why,
    tile=1,
    companions=("cause",),
    keys=("next_pane", "close_why", "copy", "copy_diagnosis"),
    answers_why=True,
    key="w",
)
