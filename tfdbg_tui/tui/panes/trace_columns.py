"""Which columns Graph Execution has, and how wide: as much as the rows on screen need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.names import least_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfdbg_tui.logdir import TensorSummary
    from tfdbg_tui.tui.terminal.text import Charset

_LEAST_NAME, _GOOD_NAME = 16, 36
_LONG_NAME = 64  # more of a name is worth less than what the last columns tell of all tensors
_TAIL = 28  # the last two parts of most names; longer ones take cells of the columns behind them
_STEP = 2  # widths are multiples of this, so that few rows more or less change nothing
_SPARE = 8  # more than its names need a column does not get
_BESIDE_NAME = 52  # cells from which on there is room for the op type
_WIDEST = {"op type": 17, "function": 28, "line": 24, "layer": 28}
_WIDEST_OTHER = 16
_ZERO = 1  # place of the zeros among the counts of what is finite: −, 0, +
_FIRST = ("device", "function")
_LAST = ("size", "line", "layer", "dtype", "rank")
_EXTREMES = ("min", "max")  # both or none
_BESIDES = ("step", "iteration")
FLUSH_RIGHT = frozenset({"size", "min", "max", "step", "iteration"})
"""The columns of numbers."""
PATHS = frozenset({"layer", "line"})
"""The columns of which the end tells most."""

_BAD = frozenset({"nan", "-inf", "+inf"})
_FINITE = ("neg", "zero", "pos")


@dataclass(frozen=True, slots=True)
class TraceRow:
    """What decides about the columns of one row.

    Attributes:
        name: The tensor's name.
        facts: What else may be shown of it, by the title of its column; "" for nothing.
        summary: Its values.
    """

    name: str
    facts: Mapping[str, str]
    summary: TensorSummary | None


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """The columns of some rows, in cells; those without text in any row are left out.

    Attributes:
        name: Width of the tensor's name.
        prefix: Scopes that all names begin with, where they are left out for lack of room.
        facts: Title and width of each further column, the space in front of it included.
        counts: Width of the column of each kind of value, as `chips.columns` takes them.
    """

    name: int = _LEAST_NAME
    prefix: str = ""
    facts: tuple[tuple[str, int], ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def most_of_name(self) -> int:
        """Cells of the longest name that takes those of further columns, too."""
        return self.name + sum(width for _, width in self.facts)


def choose_columns(
    rows: Sequence[TraceRow],
    room: int,
    charset: Charset,
    *,
    several_devices: bool,
    sorted_by: str = "",
) -> TraceColumns:
    """Return the columns for the rows on screen.

    Args:
        rows: The rows.
        room: Cells for all columns.
        charset: The characters to draw with.
        several_devices: Whether the device tells anything.
        sorted_by: The column that is not to be left out: the title of a fact, or a kind of value.
    """
    counts = chips.column_widths([row.summary for row in rows], charset)
    facts = _widths(rows, several_devices=several_devices or sorted_by == "device")
    names = [charset.safe(row.name) for row in rows]
    columns = _named(names, facts, counts, room, sorted_by)
    if sorted_by in _BAD or not all(map(_is_healthy, rows)):
        return columns
    healthy = (0,) * chips.NUM_BAD + counts[chips.NUM_BAD :]
    instead = _named(names, facts, healthy, room, sorted_by, first=_EXTREMES)
    if columns.most_of_name < min(_tail(names), instead.most_of_name):
        return instead
    if _alike(names, columns, charset):
        return _named(names, facts, healthy, room, sorted_by, good=room)
    gains = "min" in dict(instead.facts) and "min" not in dict(columns.facts)
    return instead if gains and instead.name >= min(columns.name, _tail(names)) else columns


def _alike(names: Sequence[str], columns: TraceColumns, charset: Charset) -> bool:
    """Whether names that differ look the same where they are cut."""
    shown = {charset.fit_name(n.removeprefix(columns.prefix), columns.name) for n in set(names)}
    return len(shown) < len(set(names))


def _is_healthy(row: TraceRow) -> bool:
    """Whether all was counted, and nothing is bad: a column for that would tell nothing."""
    summary = row.summary
    return summary is not None and (summary.nan, summary.neg_inf, summary.pos_inf) == (0, 0, 0)


def _named(
    names: Sequence[str],
    facts: dict[str, int],
    counts: tuple[int, ...],
    room: int,
    sorted_by: str,
    first: Sequence[str] = (),
    good: int = _GOOD_NAME,
) -> TraceColumns:
    """Share the room out, and leave the scopes that all names share out where they lack room."""
    columns = _share(names, facts, counts, room, sorted_by, first, good)
    if columns.name >= _need(names):
        return columns
    prefix = _common_scopes(names)
    names = [name.removeprefix(prefix) for name in names]
    return replace(_share(names, facts, counts, room, sorted_by, first, good), prefix=prefix)


def _share(
    names: Sequence[str],
    facts: dict[str, int],
    counts: tuple[int, ...],
    room: int,
    sorted_by: str,
    first: Sequence[str],
    good: int,
) -> TraceColumns:
    """Share the room out, the most important first; function and line come after a good name."""
    full, tail = _need(names), _tail(names)
    bad, others = counts[: chips.NUM_BAD], counts[chips.NUM_BAD :]
    kinds = bad if sum(bad) <= room - _LEAST_NAME else ()
    by = facts.get(sorted_by, 0)
    name = max(_LEAST_NAME, min(tail, tail if by else _TAIL, room - sum(kinds) - by))
    left = room - name - sum(kinds)
    chosen: dict[str, int] = {}

    def take(*titles: str) -> None:
        nonlocal left
        for title in titles:
            if title not in chosen and 0 < facts.get(title, 0) <= left:
                chosen[title] = facts[title]
                left -= facts[title]

    def widen(wanted: int) -> None:
        nonlocal name, left
        more = min(left, max(0, min(full, wanted) - name))
        name, left = name + more, left - more

    take(sorted_by)
    if room >= _BESIDE_NAME and sorted_by not in _FINITE:
        take("op type")
    if sum(facts.get(title, 0) for title in first) <= left:
        take(*first)
    zeros = tuple(width if i == _ZERO else 0 for i, width in enumerate(others))
    spare = left if sorted_by in _FINITE else min(left, room - sum(kinds) - tail)
    for wanted in (others, zeros):  # of the finite ones zeros tell most: logarithms, divisions
        if kinds and sum(wanted) <= spare:
            kinds += wanted
            left -= sum(wanted)
            break
    widen(max(tail, good))
    take(*_FIRST)
    widen(_LONG_NAME)
    take("op type", *_LAST)
    if sum(facts.get(title, 0) for title in _EXTREMES if title not in chosen) <= left:
        take(*_EXTREMES)
    take(*_BESIDES)
    widen(full)
    titles = dict.fromkeys(("op type", "layer", *_FIRST, *_LAST, *_EXTREMES, *_BESIDES))
    ordered = tuple((title, chosen[title]) for title in titles if title in chosen)
    return TraceColumns(name + min(left, _SPARE), "", ordered, kinds)


def _widths(rows: Sequence[TraceRow], *, several_devices: bool) -> dict[str, int]:
    """Return the width that each column needs, the space in front included; 0 for an empty one."""
    widths: dict[str, int] = {}
    for title in rows[0].facts if rows else ():
        longest = max(cell_len(row.facts[title]) for row in rows)
        limit = _WIDEST.get(title, _WIDEST_OTHER)
        widths[title] = 1 + max(len(title), min(longest, limit)) if longest else 0
    if not several_devices:
        widths.pop("device", None)
    return widths


def _need(names: Iterable[str]) -> int:
    return _in_steps(max(map(cell_len, names), default=0))


def _in_steps(width: int) -> int:
    return max(_LEAST_NAME, -(-width // _STEP) * _STEP)


def _tail(names: Sequence[str]) -> int:
    """Return what the last two parts of each name need."""
    return _in_steps(least_of(names))


def _common_scopes(names: Sequence[str]) -> str:
    """Return the scopes that all names begin with, with a slash behind; "" for none."""
    if len(names) < 2:
        return ""
    first, last = min(names).split("/")[:-2], max(names).split("/")[:-2]
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return "/".join(first[:same]) + "/" if same else ""
