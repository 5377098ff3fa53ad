"""The rows of Graph Structure: what was focused, what it was computed from, what takes it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.query import searched
from tfdbg_tui.tui.panes.boundaries import boundary_words
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focus import OpName
from tfdbg_tui.tui.session.focusing import focus_graph_execution, focus_op
from tfdbg_tui.tui.session.links import cross, focus_node, recorded_at
from tfdbg_tui.tui.session.nowhere import NowhereError
from tfdbg_tui.tui.session.tree import ABOVE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from tfdbg_tui.diagnosis import Node, TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.session.tree import Tree, TreeRow


class TreeRows(Rows):
    """What was focused last, in the middle of what it was computed from and what takes it."""

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        tree = snapshot.tree(focus)
        return len(tree.rows) if tree else 0

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        tree = snapshot.tree(focus)
        return tree.place(focus.branch) if tree else None

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        return replace(focus, branch=_tree(snapshot, focus).rows[row].path)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        tree = snapshot.tree(focus)
        return [words_of(snapshot, row.node) for row in tree.rows] if tree else ()

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: to the op of the row, into the function that is called, to its creation."""
        row = self.chosen(snapshot, focus)
        if row is None:
            return focus
        if row.node.is_boundary:
            return cross(snapshot, focus, row.node, upwards=row.side in (ABOVE, 0))
        if not row.path:
            return replace(focus, pane="stack_trace")
        return focus_node(snapshot, focus, row.node)

    def chosen(self, snapshot: Snapshot, focus: Focus) -> TreeRow | None:
        """Return the chosen row."""
        tree = snapshot.tree(focus)
        return tree.rows[tree.place(focus.branch)] if tree else None

    def unfold(self, snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
        """See `Rows`; folding a row that has no branches goes to the row that it is a branch of."""
        row = self.chosen(snapshot, focus)
        if row is None or not row.path:
            return focus
        if (row.state == "open") != unfolded and row.state != "leaf":
            return replace(focus, forks=focus.forks ^ {row.path})
        if unfolded:
            raise NowhereError("nothing to unfold")
        return replace(focus, branch=row.path[:-1] if len(row.path) > 2 else ())

    def tensor(self, snapshot: Snapshot, focus: Focus) -> TensorEvent | None:
        """See `Rows`: the one that the row stands for, or that came to a boundary."""
        row = self.chosen(snapshot, focus)
        if row is None:
            return None
        event = recorded_at(snapshot, row.node) if row.path else row.node.event
        if event is None:
            raise NowhereError("no tensor of this op has been recorded")
        return event

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the name of the op."""
        row = self.chosen(snapshot, focus)
        return row.node.name if row is not None else ""

    def go_to_name(self, snapshot: Snapshot, focus: Focus, name: str) -> Focus | None:
        """See `Rows`: to the op that is meant, and its first computation."""
        op_name = name.rpartition(":")[0] if re.search(r":\d+$", name) else name
        graphs = list(snapshot.run.graphs.values())
        meant = _meant(op_name, {known for graph in graphs for known in list(graph.ops)})
        if meant is None:
            return None
        # The same name is often in several graphs: one that was computed comes first.
        ops = [OpName(graph.graph_id, meant) for graph in graphs if meant in graph.ops]
        op = min(ops, key=lambda op: snapshot.first_computation(op) is None)
        row = snapshot.first_computation(op)
        if row is not None:
            focus = focus_graph_execution(snapshot, focus, row)
        return focus_op(snapshot, focus, op)


ROWS = TreeRows()


def _meant(text: str, names: AbstractSet[str]) -> str | None:
    """Return the name, the only one that ends so, or the only one that has it; else None."""
    if text in names:
        return text
    ends = [name for name in names if name.endswith(f"/{text}")]
    found = ends or list(filter(searched(text).finds, names))
    return found[0] if len(found) == 1 else None


def _tree(snapshot: Snapshot, focus: Focus) -> Tree:
    tree = snapshot.tree(focus)
    assert tree is not None
    return tree


def words_of(snapshot: Snapshot, node: Node) -> str:
    """Return what a row says of its node.

    Args:
        snapshot: What is shown.
        node: The node.
    """
    if node.is_boundary:
        return boundary_words(snapshot, node)
    slot = node.event.slot if node.slot is None and node.event is not None else node.slot
    return node.name if slot is None else f"{node.name}:{slot}"
