"""Graph Structure: what a tensor was computed from above it, and what takes it below.

A tree that crosses calls, branches, loops, variables and Python code, as far as one unfolds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.tui.panes.base import Pane, PaneSpec
from tfdbg_tui.tui.panes.boundaries import boundary_words
from tfdbg_tui.tui.panes.tree_rows import ROWS, words_of
from tfdbg_tui.tui.session.tree import ABOVE, UNFOLDED
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.names import Column, least_width, with_columns
from tfdbg_tui.tui.widgets.virtual_list import DrawnRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tfdbg_tui.diagnosis import Node
    from tfdbg_tui.tui.session.tree import Tree, TreeRow
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_NAME_WIDTH = 20  # what a longer name gets before there are other columns
_LONG_NAME = 80  # more of a name is worth less than the numbers of all tensors
_WIDEST = 24, 30  # what the op type, and dtype and shape, get at most
_EXTENT = 28  # what the column of numbers gets at most, which is there only as a whole
_WIDEST_PART = 4  # and of the pane, where names need the rest: one part in so many
_STEP = 8  # the table grows by so many cells, so that scrolling seldom moves its columns
_COLUMN_STEP = 4  # and its columns by so many
_BESIDE_NAME = 6  # spaces around the columns
_TALL = 12


def _again(shown: TreeRow) -> str:
    """Say so where a row's branches are shown elsewhere."""
    return " (again)" if shown.state == "again" else ""


class GraphStructure(Pane):
    """The Graph Structure pane."""

    EMPTY = "Nothing selected. Choose a tensor to see what it was computed from, and what takes it."
    _middle: Node | None = None
    _table_width = _health_width = 0
    _columns = 0, 0, 0  # widths of op type, dtype and shape, and numbers; 0 where there is no room
    _shown_tree: Tree | None = None  # at the last update: each row asks for it

    @property
    def shown_tree(self) -> Tree:
        """What is shown, where there are rows."""
        assert self._shown_tree is not None
        return self._shown_tree

    def count_rows(self) -> int:
        """See `VirtualList`."""
        snapshot, focus = self.session.snapshot, self.session.focus
        self._shown_tree = None
        if snapshot is not None:
            finding, earlier = self.session.finding_tree, self.session.earlier_tree
            self._shown_tree = earlier if finding else snapshot.tree(focus)
        return len(self._shown_tree.rows) if self._shown_tree else 0

    def on_resize(self) -> None:
        """See `VirtualList`; a higher pane unfolds more rows."""
        super().on_resize()
        self.session.fit_tree(max(UNFOLDED, self.size.height))

    @property
    def reason_when_empty(self) -> str:
        """See `Pane`."""
        if self.session.finding_tree:
            return f"Finding what it was computed from{self.charset.ellipsis}"
        return super().reason_when_empty

    def find_cursor(self) -> int | None:
        """See `VirtualList`: the chosen row."""
        return self._shown_tree.place(self.session.focus.branch) if self._shown_tree else None

    def reveal(self, row: int, *, centre: bool = False) -> None:
        """See `VirtualList`: what is focused anew stands in the middle of the pane."""
        tree = self.shown_tree
        middle = tree.rows[tree.centre].node
        if middle == self._middle:
            super().reveal(row, centre=centre)
            return
        self._middle = middle
        top = min(tree.centre - self.page_rows // 2, self.max_scroll_y)
        self.scroll_to(y=max(0, top), animate=False)

    def fit_columns(self, rows: range, width: int) -> None:
        """See `VirtualList`: values stand beside the names, not at the end of a wide pane."""
        shown = [self._row(row) for row in rows]
        *facts, extents = zip(*(self._facts(row.node) for row in shown), strict=True)
        self._health_width = max(cell_len(self._health(row.node)[0]) for row in shown)
        beside = _BESIDE_NAME + self._health_width
        longest = max(self._name_end(row, width) for row in shown)
        op_type, shape = map(self._column_width, facts, _WIDEST)
        if longest + op_type + shape + beside > width:
            widest = (min(most, width // _WIDEST_PART) for most in _WIDEST)
            op_type, shape = map(self._column_width, facts, widest)
        least = max(self._name_end(row, _NAME_WIDTH) for row in shown)
        if width - beside - op_type - shape < least:
            shape = 0
        extent = self._column_width(extents, _EXTENT)
        most = max(self._name_end(row, _LONG_NAME) for row in shown)
        if not shape or most + op_type + shape + extent + beside > width:
            extent = 0
        needed = longest + op_type + shape + beside
        self._columns = op_type, shape, extent
        needed = -(-(needed + extent) // _STEP) * _STEP
        self._table_width = min(width, needed)

    def _column_width(self, texts: Iterable[str], most: int) -> int:
        """Return the width of a column, the space in front included; 0 for an empty one."""
        longest = max(map(cell_len, texts))
        return min(most, -(-(longest + 1) // _COLUMN_STEP) * _COLUMN_STEP) if longest else 0

    def _name_end(self, shown: TreeRow, most: int) -> int:
        """Return how many cells a row needs to the end of its name, or of so many cells of that."""
        lines = sum(len(text) for text, _ in self._lines(shown))
        return lines + min(most, cell_len(words_of(self.snapshot, shown.node) + _again(shown)))

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        widths = self._table_width, self._columns, self._health_width
        return self._row(row), row == self.cursor, widths

    def _row(self, row: int) -> TreeRow:
        return self.shown_tree.rows[row]

    def row(self, row: int, width: int) -> DrawnRow:
        """See `VirtualList`."""
        shown, selected = self._row(row), row == self.cursor
        behind = "mark" if selected else ""
        if not shown.path:
            behind = "focus"
        elif len(shown.path) == 2 and shown.side == ABOVE:
            behind = "input"
        mark = (self.charset.focus if selected else " ") + " "
        lines = self._lines(shown)
        room = self._table_width - len(mark) - sum(len(text) for text, _ in lines) - 2
        if shown.node.is_boundary:
            text, style = self._health(shown.node)
            above, ruled = self._boundary(shown, room)
            cells = (*ruled, (" ", ""), *chips.flush_right(text, self._health_width, style))
        else:
            above, cells = self._op(shown, room)
        beside = (("  ", ""), *self._lines_above(shown))
        lines_above = [(*beside, cell) for cell in above]
        return DrawnRow(((mark, ""), *lines, *cells, (" ", "")), behind, lines_above)

    def _lines_above(self, shown: TreeRow) -> Line:
        """Return the lines of the tree to the left of the lines of a row above its last one."""
        if not shown.path:
            return ()
        begins = shown.line == "end" and shown.side == ABOVE
        passing = " " if begins else self.charset.tree.down
        return (self._guides(shown), "faint"), (f"{passing} ", "faint")

    def _lines(self, shown: TreeRow) -> Line:
        """Return the lines of the tree to the left of a row, and whether it is folded."""
        if not shown.path:
            return ()
        lines = self.charset.tree
        end = lines.begun if shown.side == ABOVE else lines.ended
        joint = {"end": end, "on": lines.joined, "through": lines.crossed}[shown.line]
        beside = lines.across if shown.node.is_boundary else " "
        folded = self.charset.folded if shown.state == "folded" else beside
        joint_style = "bad" if shown.bad else "faint"
        return (self._guides(shown), "faint"), (joint, joint_style), (folded, "key")

    def _guides(self, shown: TreeRow) -> str:
        """Return the lines that pass a row to the left of its own."""
        down = self.charset.tree.down
        return "".join(f"{down} " if passes else "  " for passes in shown.guides)

    def _boundary(self, shown: TreeRow, room: int) -> tuple[list[Cell], Line]:
        """Return a ruled line with a name in it, and what of that has no room in it.

        Args:
            shown: The row.
            room: Cells for the line and what is told behind it.
        """
        words = self.charset.safe(boundary_words(self.snapshot, shown.node) + _again(shown))
        room_of_rule = room - self._health_width
        above, words = self._boundary_lines(words, max(1, room - 2), max(1, room_of_rule - 2))
        rule = self.charset.tree.across * max(0, room_of_rule - cell_len(words) - 2)
        return [(line, "call") for line in above], ((f" {words} ", "call"), (rule, "faint"))

    def _boundary_lines(self, words: str, room: int, room_in_rule: int) -> tuple[list[str], str]:
        """Return lines for the beginning of a boundary's words, and what is left for its rule.

        Args:
            words: What the boundary is.
            room: Cells of a line.
            room_in_rule: Cells of the last one.
        """
        short = self._without_scopes(words, room_in_rule)
        if cell_len(short) <= room_in_rule:
            return [], short
        begin, comma, end = words.rpartition(", ")
        above = self.charset.wrapped(self._without_scopes(begin + ",", room), room) if comma else []
        end = self._without_scopes(end, room_in_rule)
        *more, end = self.charset.wrapped(end, room_in_rule)
        return [*above, *more], end

    def _without_scopes(self, words: str, width: int) -> str:
        """Return words with the longest name in them cut where all of them have no room."""
        name = max(words.split(), key=cell_len, default="")
        room = width - cell_len(words) + cell_len(name)
        if room >= cell_len(name):
            return words
        return words.replace(name, self.charset.fit_name(name, max(room, least_width(name))), 1)

    def _op(self, shown: TreeRow, room: int) -> tuple[list[Cell], Line]:
        node = shown.node
        slot = f"{node.input_slot} " if shown.path and self._takes_several(shown) else ""
        words = self.charset.safe(words_of(self.snapshot, node))
        room -= len(slot)
        if least_width(words + _again(shown)) + self._health_width <= room:
            words += _again(shown)
        health, style = self._health(node, room - least_width(words))
        columns = list(map(Column, self._facts(node), self._columns))
        columns.append(
            Column(health, self._health_width + 1, flush_right=True, stays=style == "bad")
        )
        # Below zero where the columns have to give some of their cells to the name.
        name_width = room + 1 - sum(column.width for column in columns)
        named = with_columns(words, name_width, columns, self.charset)
        name_style = "bad" if shown.bad else "" if shown.path else "strong"
        *texts, health = named.texts
        return [(" " * len(slot) + line, name_style) for line in named.above], (
            (slot, "dim"),
            (named.name, name_style),
            *((text, "dim") for text in texts),
            *chips.flush_right(health.strip(), cell_len(health), style),
        )

    def _takes_several(self, shown: TreeRow) -> bool:
        """Whether the op that takes the row's tensor has several inputs."""
        if shown.side != ABOVE:
            return len(self.snapshot.neighbours.inputs(shown.node)) > 1
        return shown.path[-1] > 0 or not self._is_only_branch(shown)

    def _is_only_branch(self, shown: TreeRow) -> bool:
        rows = self.shown_tree.rows
        return all(row.path != (*shown.path[:-1], 1) for row in rows)

    def _facts(self, node: Node) -> tuple[str, str, str]:
        """Return the op type of a row, dtype and shape, and between which numbers it is."""
        if node.is_boundary:
            return "", "", ""
        summary = self.snapshot.summary(node.event) if node.event else None
        extent = chips.extent(summary, self.charset) if summary else ""
        return node.op_type or "", chips.shape_and_type(summary), extent

    def _health(self, node: Node, room: int = chips.BRIEF) -> Cell:
        """Return what is bad in a tensor, or that nothing is.

        Args:
            node: The node that stands for it.
            room: Cells that are left beside its name.
        """
        summary = self.snapshot.summary(node.event) if node.event else None
        if summary is None or summary.has_inf_or_nan is None:
            return "" if node.is_boundary else "no value", "faint"
        if summary.bad:
            return chips.brief_beside(summary, self.charset, room), "bad"
        return "finite", "good"

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`: the graph and those that it was built in, and what it has around the op."""
        snapshot = self.snapshot
        middle = self.shown_tree
        node = middle.rows[middle.centre].node
        names = ["Python"]
        if node.graph_id is not None:
            path = snapshot.run.graph_path(node.graph_id)
            names = [self.charset.safe(snapshot.graph_name(graph.graph_id)) for graph in path]
        inputs = len(snapshot.neighbours.inputs(node))
        uses = len(snapshot.neighbours.uses(replace(node, slot=None)))
        counts = f"{inputs:,} in, {uses:,} out "
        if self.session.focus.bad_branches:
            counts = f"only NaN/{self.charset.inf} {self.charset.dot} {counts}"
        room = width - len(counts) - 2
        where = self._fit_graphs(names or ["unknown graph"], room)
        return (((" " + self.charset.fit(where, room), "call"), (" " + counts, "dim")),)

    def _fit_graphs(self, names: list[str], width: int) -> str:
        """Return graphs, each inside the one before; without the outer ones that have no room."""
        inside = f" {self.charset.inside} "
        shown = inside.join(names)
        while cell_len(shown) > width and len(names) > 1:
            names = names[1:]
            shown = inside.join([self.charset.ellipsis, *names])
        return self.charset.fit_path(shown, width)

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: the chosen tensor in full."""
        if self.cursor is None or not self.row_count or height < _TALL:
            return ()
        shown = self._row(self.cursor)
        node, words = shown.node, words_of(self.snapshot, shown.node)
        summary = self.snapshot.summary(node.event) if node.event else None
        facts = [
            ("" if node.is_boundary else self.charset.safe(node.op_type or ""), "dim"),
            (self.charset.safe(chips.size_and_type(summary)), "dim"),
            (f"{node.copies} copies folded" if node.copies else "", "dim"),
        ]
        name = self.name_in_full(words, facts, width)
        values = chips.chips(summary, self.charset) if node.event else ()
        lines = (*name, *self.layer_line(node.event), (("  ", ""), *values))
        return self.on_blank_lines(lines, width, self.lines_left(height, len(lines)))

    def summary(self) -> str:
        """See `Pane`."""
        return ""


SPEC = PaneSpec(
    name="graph_structure",
    title="Graph Structure",
    short_title="Op",
    rows=ROWS,
    view=GraphStructure,
    tile=4,
    companions=("graph_execution",),
    keys=("why", "producer", "consumer", "bad_branches"),
)
