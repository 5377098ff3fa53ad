"""The tree of Graph Structure: what a tensor was computed from above it, what takes it below.

Its rows are a pure function of where it starts, and of what the user has folded and unfolded.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from tfdbg_tui.diagnosis import Neighbours, Node, TensorEvent

    Step = Callable[[Node], tuple[Node, ...]]

UNFOLDED = 32
"""Rows beside the middle that are there before the user unfolds any, where there are so many.

Half of them on either side, and what the other side has not.
"""

Path = tuple[int, ...]
"""Where a row is: -1 above or 1 below the middle, then which branch at each fork."""

ABOVE, BELOW = -1, 1


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row.

    Attributes:
        path: Where it is in the tree; empty for the middle.
        node: What it shows.
        guides: Of each column left of its own, whether a line passes there.
        line: How it joins the line of its column: at the "end" of that, "on" it, or "through" it.
        state: Whether its branches are "open", "folded" or there are none ("leaf"), or whether they
            are shown elsewhere in the tree ("again").
        bad: Whether its tensor has NaN or ∞.
    """

    path: Path
    node: Node
    guides: tuple[bool, ...] = ()
    line: Literal["", "end", "on", "through"] = ""
    state: Literal["open", "folded", "leaf", "again"] = "leaf"
    bad: bool = False

    @property
    def side(self) -> int:
        """-1 above the middle, 1 below it, 0 in it."""
        return self.path[0] if self.path else 0


class Tree:
    """The rows around a node.

    Args:
        middle: The node.
        neighbours: Knows the steps from a node.
        is_bad: Tells whether a recorded tensor has NaN or ∞.
        toggled: Paths that the user has folded or unfolded.
        only_bad: Whether to leave out branches without anything bad.
        unfolded: How many rows beside the middle are there unless the user folds them.

    Attributes:
        rows: The rows, from top to bottom.
        centre: Which of them is the middle.
    """

    def __init__(
        self,
        middle: Node,
        neighbours: Neighbours,
        is_bad: Callable[[TensorEvent], bool],
        *,
        toggled: frozenset[Path] = frozenset(),
        only_bad: bool = False,
        unfolded: int = UNFOLDED,
    ) -> None:
        self._is_bad = is_bad
        self._only_bad = only_bad
        inputs = _Branches(neighbours.inputs, middle, ABOVE, toggled)
        uses = _Branches(neighbours.uses, replace(middle, slot=None), BELOW, toggled)
        inputs.unfold(unfolded // 2)
        uses.unfold(unfolded - inputs.num_unfolded)
        inputs.unfold(unfolded - uses.num_unfolded)
        above, below = self._side(inputs), self._side(uses)
        self.centre = len(above)
        centre = TreeRow((), middle, state="open", bad=self._bad(middle))
        self.rows = (*above, centre, *below)
        self._places = {row.path: place for place, row in enumerate(self.rows)}

    def place(self, path: Path) -> int:
        """Return the row of a path, or the nearest one to it that is shown."""
        while path not in self._places:
            path = path[:-1] if len(path) > 2 else ()
        return self._places[path]

    def _bad(self, node: Node) -> bool:
        return node.event is not None and self._is_bad(node.event)

    def _side(self, branches: _Branches) -> list[TreeRow]:
        found = list(self._forks(branches, branches.middle, (branches.side,), ()))
        return found[::-1] if branches.side == ABOVE else found

    def _forks(
        self, branches: _Branches, node: Node, path: Path, guides: tuple[bool, ...]
    ) -> Iterator[TreeRow]:
        """Yield the branches of a node and all theirs, from the middle outwards."""
        nodes = list(enumerate(branches.of(path, node)))
        if self._only_bad:
            nodes = [(i, n) for i, n in nodes if self._leads_to_bad(branches, n, (*path, i))]
        if path[0] == ABOVE:
            nodes.reverse()  # the first input is to be the topmost
        for number, (i, branch) in enumerate(nodes):
            here = (*path, i)
            last = number == len(nodes) - 1
            through = len(nodes) == 1 and branch.is_boundary and branches.are_shown(here, branch)
            line: Literal["end", "on", "through"] = "end" if last else "on"
            yield TreeRow(
                here,
                branch,
                guides,
                "through" if through else line,
                branches.state(here, branch),
                self._bad(branch),
            )
            inner = guides if through else (*guides, not last)
            yield from self._forks(branches, branch, here, inner)

    def _leads_to_bad(self, branches: _Branches, node: Node, path: Path) -> bool:
        if self._bad(node):
            return True
        inner = enumerate(branches.of(path, node))
        return any(self._leads_to_bad(branches, n, (*path, i)) for i, n in inner)


class _Branches:
    """The branches on one side that are unfolded: the nearest first, as far as they go.

    Args:
        step: Finds the branches of a node.
        middle: Where they begin.
        side: Which side it is.
        toggled: Paths that the user has folded or unfolded.

    Attributes:
        middle: Where they begin.
        side: Which side it is.
        num_unfolded: How many rows `unfold` has found.
    """

    def __init__(self, step: Step, middle: Node, side: int, toggled: frozenset[Path]) -> None:
        self.middle = middle
        self.side = side
        self.num_unfolded = 0
        self._step = step
        self._toggled = toggled
        self._open: set[Path] = {(side,)}
        self._again: set[Path] = set()
        self._folded: deque[tuple[Node, Path]] = deque([(middle, (side,))])
        self._seen = {_identity(middle)}

    def of(self, path: Path, node: Node) -> tuple[Node, ...]:
        """Return the branches of a node that are shown."""
        return self._step(node) if self._is_open(path) else ()

    def are_shown(self, path: Path, node: Node) -> bool:
        """Whether any branch of a node is shown."""
        return bool(self.of(path, node))

    def state(self, path: Path, node: Node) -> Literal["open", "folded", "leaf", "again"]:
        """Return what `TreeRow` says of a node's branches."""
        if node.kind == "variable" and path[0] == BELOW and not self._is_open(path):
            return "folded"  # to find out what reads it takes hundreds of records
        if not self._step(node):
            return "leaf"
        if self._is_open(path):
            return "open"
        return "again" if path in self._again else "folded"

    def _is_open(self, path: Path) -> bool:
        return (path in self._open) != (path in self._toggled)

    def unfold(self, limit: int) -> None:
        """Unfold the nearest branches until so many rows are there."""
        folded, seen = self._folded, self._seen
        while folded and self.num_unfolded < limit:
            node, path = folded.popleft()
            self._open.add(path)
            for i, branch in enumerate(self._step(node)):
                self.num_unfolded += 1
                here = (*path, i)
                if _identity(branch) in seen:
                    self._again.add(here)
                    continue
                seen.add(_identity(branch))
                if branch.kind == "variable":
                    continue  # what lies behind is an earlier step, or a later one
                if branch.is_boundary:
                    folded.appendleft((branch, here))
                else:
                    folded.append((branch, here))


def _identity(node: Node) -> Hashable:
    return node.kind, node.graph_id, node.name, node.slot, node.event
