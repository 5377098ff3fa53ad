"""Why: the chain of a tensor, from its root to the tensor itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import PASS_THROUGH, device_of, name_of, origin_of, readable_function
from tfdbg_tui.tui.panes.base import PaneSpec
from tfdbg_tui.tui.panes.chain_pane import ChainPane, fix_of, shown_chain
from tfdbg_tui.tui.panes.listing import pane_of_subject
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.session.focus import OtherProcess
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.folding import FoldedRow
from tfdbg_tui.tui.terminal.text import short_device
from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.cells import joined

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence

    from tfdbg_tui.diagnosis import Chain, FleetRoot, Link, TensorEvent
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_NAME_WIDTH = 16  # the least a tensor's name gets
_IN = chips.BRIEF + 3  # what came in, and an arrow
# Optional columns, in the order in which they get room: title, width.
_OPTIONAL = (("function", 12), ("came by", 11), ("in", _IN), ("op type", 14))
_ORDER = ("op type", "function", "came by", "in")
_TALL = 10
_COPIES = PASS_THROUGH | {"Placeholder", "ReadVariableOp", "Reshape", "Transpose", "ExpandDims"}

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
    "earlier": "earlier",
}


class ChainRows(Rows):
    """The tensors on the chain, causes first; runs of copies are one row unless unfolded."""

    def rows(self, snapshot: Snapshot, focus: Focus) -> Sequence[FoldedRow]:
        """Return the rows."""
        shown = shown_chain(snapshot, focus)
        return fold_copies(shown, focus.open_copies) if shown else ()

    def fold_at(self, snapshot: Snapshot, focus: Focus, row: int) -> TensorEvent | None:
        """Return the first tensor of the run of copies that a row is, or is in."""
        shown = shown_chain(snapshot, focus)
        if shown is None:
            return None
        link = self.rows(snapshot, focus)[row].first
        folded = (found for found in fold_copies(shown, ()) if found.folded)
        runs = (found.first for found in folded if found.first <= link <= found.last)
        return next((shown.links[first].event for first in runs), None)

    def count(self, snapshot: Snapshot, focus: Focus) -> int:
        """See `Rows`."""
        return len(self.rows(snapshot, focus))

    def position(self, snapshot: Snapshot, focus: Focus) -> int | None:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        if shown is None:
            return None
        chosen = shown.chosen(focus.link)
        rows = self.rows(snapshot, focus)
        return next((i for i, row in enumerate(rows) if row.first <= chosen <= row.last), None)

    def select(self, snapshot: Snapshot, focus: Focus, row: int) -> Focus:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        assert shown is not None
        event = shown.links[self.rows(snapshot, focus)[row].first].event
        return focus_event(snapshot, replace(focus, link=event), event)

    def texts(self, snapshot: Snapshot, focus: Focus) -> Sequence[str]:
        """See `Rows`."""
        shown = shown_chain(snapshot, focus)
        names = [f"{k.name} {k.op_type} {k.graph}" for k in shown.links] if shown else []
        return [" ".join(names[r.first : r.last + 1]) for r in self.rows(snapshot, focus)]

    def enter(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: unfold a run of copies, or go to the pane that lists the tensor."""
        row = self.position(snapshot, focus)
        if row is None:
            return focus
        if self.rows(snapshot, focus)[row].folded:
            return self.unfold(snapshot, focus, unfolded=True)
        other = self._other_process(snapshot, focus, row)
        if other is not None:
            return replace(focus, other_process=other)
        focus = self.select(snapshot, focus, row)
        return replace(focus, pane=pane_of_subject(focus))

    def _other_process(self, snapshot: Snapshot, focus: Focus, row: int) -> OtherProcess | None:
        """Return where a root came from, if the row is one that another process of the job made."""
        shown = shown_chain(snapshot, focus)
        origin = origin_of_chain(snapshot, shown) if shown else None
        if shown is None or origin is None or self.rows(snapshot, focus)[row].first != shown.start:
            return None
        worker, number, _ = origin.links[0]
        kind = "trace" if origin.finding["kind"] == "graph_execution" else "exec"
        return OtherProcess(worker, f"{kind}:{origin.finding['index']}" if number else "")

    def unfold(self, snapshot: Snapshot, focus: Focus, *, unfolded: bool) -> Focus:
        """See `Rows`: a run of copies."""
        row = self.position(snapshot, focus)
        copies = None if row is None else self.fold_at(snapshot, focus, row)
        if copies is None:
            return focus
        opened = focus.open_copies | {copies} if unfolded else focus.open_copies - {copies}
        return replace(focus, open_copies=opened)

    def newest(self, snapshot: Snapshot, focus: Focus) -> Focus:
        """See `Rows`: a chain stays as it is."""
        return focus

    def text(self, snapshot: Snapshot, focus: Focus) -> str:
        """See `Rows`: the fix."""
        return fix_of(snapshot, focus)


def origin_of_chain(snapshot: Snapshot, chain: Chain) -> FleetRoot | None:
    """Return the root, made by another process of the job, that a chain goes back to."""
    if snapshot.job is None or chain.finding is None:
        return None
    origin = origin_of(snapshot.job.report, snapshot.worker, chain.finding.event)
    return origin[0] if origin is not None and origin[1] is not None else None


def fold_copies(chain: Chain, unfolded: Collection[TensorEvent]) -> list[FoldedRow]:
    """Return the rows of a chain; ops in a row that only pass values on are one.

    Args:
        chain: The chain.
        unfolded: The first tensors of the folds that are opened.
    """
    found: list[FoldedRow] = []
    run: list[int] = []
    for position, link in enumerate(chain.links):
        first = chain.start if chain.finding else 0
        inside = first < position < len(chain.links) - 1
        if inside and link.passes_on:
            run.append(position)
            continue
        found += _fold(chain.links, run, unfolded)
        run = []
        found.append(FoldedRow(position, position))
    return found


def fold_name(links: Sequence[Link], row: FoldedRow) -> str:
    """Return what a folded row says: ``3 copies``, ``12 pass-through ops``."""
    inside = links[row.first : row.last + 1]
    copies = all(link.op_type in _COPIES for link in inside)
    return f"{row.folded} {'copies' if copies else 'pass-through ops'}"


def _fold(
    links: Sequence[Link], run: Sequence[int], unfolded: Collection[TensorEvent]
) -> list[FoldedRow]:
    if len(run) > 1 and links[run[0]].event not in unfolded:
        return [FoldedRow(run[0], run[-1])]
    return [FoldedRow(position, position) for position in run]


ROWS = ChainRows()


class Why(ChainPane):
    """The Why pane."""

    def row_state(self, row: int) -> Hashable:
        """See `VirtualList`."""
        return self.session.focus.why, self._row(row), row == self.cursor

    def _row(self, row: int) -> FoldedRow:
        return ROWS.rows(self.snapshot, self.session.focus)[row]

    def row(self, row: int, width: int) -> tuple[Line, str]:
        """See `VirtualList`."""
        chain, here, focused = self.chain, self._row(row), row == self.cursor
        link = chain.links[here.last]
        inferred = any(found.inferred for found in chain.links[here.first : here.last + 1])
        name_width, optional = self._layout(width)
        cells: list[Cell] = [
            (self.charset.focus if focused else " ", ""),
            ("~ " if inferred else "  ", "match"),
        ]
        if here.folded:
            text = f"{self.charset.folded} {fold_name(chain.links, here)}"
            cells.append((self.charset.fit(text, name_width), "dim"))
        else:
            style = "bad" if here.first == chain.start and chain.finding else ""
            cells.append((self.charset.fit_name(link.name, name_width), style))
        for title, column in optional:
            cells += self._fact(title, column, here)
        return (*cells, *self._values(link, width)), "focus" if focused else ""

    def _fact(self, title: str, width: int, here: FoldedRow) -> Line:
        links = self.chain.links
        link = links[here.first]
        before = links[here.first - 1] if here.first else None
        if title == "in":
            return self._came_in(here)
        text, style = "", "dim"
        if title == "function":
            eager = "eager" if link.event.kind == "execution" else "main graph"
            text = readable_function(link.graph) if link.graph else eager
            crossed = before is not None and before.graph != link.graph
            style = "call" if crossed else "dim"
        elif title == "came by":
            text = self._came_by(here)
            style = "bad" if text == "root" else "dim"
        elif not here.folded:
            text = link.op_type or ""
        return ((" " + self.charset.fit(text, width - 1), style),)

    def _came_by(self, here: FoldedRow) -> str:
        chain = self.chain
        if here.first == chain.start and chain.finding is not None:
            if chain.finding.event != chain.links[chain.start].event:
                return ""
            return self._worker_of_origin() or "root"
        if here.first < chain.start and chain.finding is not None:
            return "input"
        return _CAME_BY.get(chain.links[here.first].via, "")

    def _came_in(self, here: FoldedRow) -> Line:
        """Return what came in, short, and an arrow to what came out."""
        chain = self.chain
        if not self._has_input(here):
            return ((" " * _IN, ""),)
        summary = chain.links[here.first - 1].summary
        arrow: Cell = (f" {self.charset.right:2}", "faint")
        if summary is None or summary.has_inf_or_nan is None:
            return (*chips.flush_right("", chips.BRIEF, ""), arrow)
        if summary.bad:
            return (*chips.brief(summary, self.charset), arrow)
        return (*chips.flush_right("finite", chips.BRIEF, "good"), arrow)

    def _has_input(self, here: FoldedRow) -> bool:
        """Whether the row before is what went into this one."""
        return here.first > 0 and (self.chain.finding is None or here.first >= self.chain.start)

    def _values(self, link: Link, width: int) -> Line:
        if self._wide(width):
            return chips.columns(link.summary, self.charset, chips.ALL_WIDTHS)
        summary = link.summary
        if summary is not None and summary.bad:
            return (*chips.brief(summary, self.charset), (" ", ""))
        text = "finite" if summary is not None and summary.has_inf_or_nan is False else ""
        return (*chips.flush_right(text, chips.BRIEF, "good"), (" ", ""))

    def _wide(self, width: int) -> bool:
        return width >= 3 + _NAME_WIDTH + sum(chips.ALL_WIDTHS)

    def _layout(self, width: int) -> tuple[int, list[tuple[str, int]]]:
        """Return the width of the name, and the optional columns that there is room for."""
        counts = sum(chips.ALL_WIDTHS) if self._wide(width) else chips.BRIEF + 1
        room = width - 3 - counts - _NAME_WIDTH
        chosen = []
        for title, column in _OPTIONAL:
            if room >= column:
                chosen.append((title, column))
                room -= column
        chosen.sort(key=lambda column: _ORDER.index(column[0]))
        return _NAME_WIDTH + max(0, room), chosen

    def title_lines(self, width: int, height: int) -> tuple[Line, ...]:
        """See `Pane`."""
        name_width, optional = self._layout(width)
        titles = "".join(f" {title:{w - 1}}" for title, w in optional if title != "in")
        if any(title == "in" for title, _ in optional):
            titles += f"{'in':>{chips.BRIEF}}   "
        start: Cell = (f"   {'tensor':{name_width}}{titles}", "dim")
        counts = chips.ALL_WIDTHS if self._wide(width) else ()
        titled = (start, *chips.column_titles(self.charset, counts))
        return (*self._elsewhere(width), titled)

    def _elsewhere(self, width: int) -> tuple[Line, ...]:
        """Return a line with the chain in the process that made it, where that is another."""
        origin = origin_of_chain(self.snapshot, self.chain)
        if origin is None:
            return ()
        worker = self.charset.safe(self._worker_of_origin())
        root = f"{origin.finding['op_name'] or origin.finding['op_type']}:"
        names = [link["name"] for link in origin.finding["chain"]]
        made = next((i for i, name in enumerate(names) if name.startswith(root)), 0)
        chain = f" {self.charset.right} ".join([*names[: made + 1], self.charset.ellipsis])
        text = self.charset.fit(f"{chain}  Enter goes there", max(0, width - len(worker) - 3))
        return (((f" {worker}: ", "call"), (text, "dim")),)

    def _worker_of_origin(self) -> str:
        """Return the process that made what the chain begins with; "" where it is this one."""
        job, origin = self.snapshot.job, origin_of_chain(self.snapshot, self.chain)
        return job.name_of(origin.links[0][0]) if job is not None and origin is not None else ""

    def foot(self, width: int, height: int) -> tuple[Line, ...]:
        """See `VirtualList`: the chosen tensor in full, and what came in."""
        if not self.row_count or self.cursor is None or height < _TALL:
            return ()
        run, here = self.snapshot.run, self._row(self.cursor)
        link = self.chain.links[here.last]
        facts = joined(
            [
                (self.charset.safe(name_of(run, link.event)), "strong"),
                (self.charset.safe(link.op_type or ""), "dim"),
                (self.charset.safe(chips.size_and_type(link.summary)), "dim"),
                (self.charset.safe(short_device(device_of(run, link.event))), "dim"),
                ("~ inferred" if any(k.inferred for k in self.chain.links) else "", "match"),
            ],
            f" {self.charset.dot} ",
        )
        return ((("  ", ""), *facts), (("  ", ""), *self._in_and_out(here)))

    def _in_and_out(self, here: FoldedRow) -> Line:
        chain = self.chain
        out = chips.chips(chain.links[here.last].summary, self.charset)
        if not self._has_input(here):
            return out
        # Of a root all inputs are there: the first one tells most.
        at_root = here.first == chain.start and chain.finding is not None
        given = chain.links[0 if at_root else here.first - 1]
        came_in = chips.chips(given.summary, self.charset)
        return (*came_in, (f" {self.charset.right} ", "dim"), *out)

    def summary(self) -> str:
        """See `Pane`: whose chain it is."""
        snapshot, event = self.session.snapshot, self.session.focus.why
        if snapshot is None or event is None:
            return ""
        return name_of(snapshot.run, event)


SPEC = PaneSpec(
    name="why",
    title="Why",
    short_title="Why",
    rows=ROWS,
    view=Why,
    tile=1,
    companion="cause",
    keys=("next_pane", "close_why", "copy", "copy_diagnosis"),
    answers_why=True,
    key="w",
)
