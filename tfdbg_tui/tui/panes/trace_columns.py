"""Which columns Graph Execution has, and how wide: as much as the rows on screen need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.names import least_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the rows on screen would take, in cells, and the room that there is.

    Attributes:
        names: The names of their tensors.
        facts: Width of each further column, the space in front included; 0 for an empty one.
        counts: Width of the column of each kind of value.
        room: Cells for all columns.
        sorted_by: Title of the column that is not to be left out; "" for none.
    """

    names: Sequence[str]
    facts: Mapping[str, int]
    counts: tuple[int, ...]
    room: int
    sorted_by: str

    @property
    def full(self) -> int:
        """What the longest name needs."""
        return _in_steps(max(map(cell_len, self.names), default=0))

    @property
    def tail(self) -> int:
        """What the last two parts of each name need."""
        return _in_steps(least_of(self.names))


class _Shared:
    """The room of a row while it is shared out.

    Attributes:
        name: Cells of the tensor's name so far.
        left: Cells that no column has yet.

    Args:
        wanted: What the rows would take.
        room: Cells for the name and the further columns.
    """

    def __init__(self, wanted: _Wanted, room: int) -> None:
        by = wanted.facts.get(wanted.sorted_by, 0)
        most = wanted.tail if by else min(wanted.tail, _TAIL)
        self.name = max(_LEAST_NAME, min(most, room - by))
        self.left = room - self.name
        self._full = wanted.full
        self._widths = wanted.facts
        self._chosen: set[str] = set()

    def take(self, *titles: str) -> None:
        """Give room to those of some columns that it is enough for."""
        for title in titles:
            width = self._widths.get(title, 0)
            if title not in self._chosen and 0 < width <= self.left:
                self._chosen.add(title)
                self.left -= width

    def take_all(self, titles: Sequence[str]) -> None:
        """Give room to some columns if it is enough for all of them."""
        if sum(self._widths.get(title, 0) for title in set(titles) - self._chosen) <= self.left:
            self.take(*titles)

    def widen(self, wanted: int) -> None:
        """Give the name as many cells as it needs, up to `wanted`."""
        more = min(self.left, max(0, min(self._full, wanted) - self.name))
        self.name += more
        self.left -= more

    def in_order(self) -> tuple[tuple[str, int], ...]:
        """Return title and width of the chosen columns, in the order of the screen."""
        titles = dict.fromkeys(("op type", "layer", *_FIRST, *_LAST, *_EXTREMES, *_BESIDES))
        return tuple((title, self._widths[title]) for title in titles if title in self._chosen)


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
    wanted = _Wanted(
        names=[charset.safe(row.name) for row in rows],
        facts=_widths(rows, several_devices=several_devices or sorted_by == "device"),
        counts=chips.column_widths([row.summary for row in rows], charset),
        room=room,
        sorted_by=sorted_by,
    )
    columns = _named(wanted)
    if sorted_by in _BAD or not all(map(_is_healthy, rows)):
        return columns
    healthy = replace(wanted, counts=(0,) * chips.NUM_BAD + wanted.counts[chips.NUM_BAD :])
    instead = _named(healthy, first=_EXTREMES)
    if columns.most_of_name < min(wanted.tail, instead.most_of_name):
        return instead
    if _alike(wanted.names, columns, charset):
        return _named(healthy, good=room)
    gains = "min" in dict(instead.facts) and "min" not in dict(columns.facts)
    return instead if gains and instead.name >= min(columns.name, wanted.tail) else columns


def _alike(names: Sequence[str], columns: TraceColumns, charset: Charset) -> bool:
    """Whether names that differ look the same where they are cut."""
    shown = {charset.fit_name(n.removeprefix(columns.prefix), columns.name) for n in set(names)}
    return len(shown) < len(set(names))


def _is_healthy(row: TraceRow) -> bool:
    """Whether all was counted, and nothing is bad: a column for that would tell nothing."""
    summary = row.summary
    return summary is not None and (summary.nan, summary.neg_inf, summary.pos_inf) == (0, 0, 0)


def _named(wanted: _Wanted, first: Sequence[str] = (), good: int = _GOOD_NAME) -> TraceColumns:
    """Share the room out; where names lack room, leave out the scopes that all of them share.

    Args:
        wanted: What the rows would take.
        first: Columns that come before the counts of what is finite, all of them or none.
        good: Cells of a name that come before function and line.
    """
    columns = _share(wanted, first, good)
    if columns.name >= wanted.full:
        return columns
    prefix = _common_scopes(wanted.names)
    shorter = replace(wanted, names=[name.removeprefix(prefix) for name in wanted.names])
    return replace(_share(shorter, first, good), prefix=prefix)


def _share(wanted: _Wanted, first: Sequence[str], good: int) -> TraceColumns:
    """Share the room out, the most important first; function and line come after a good name."""
    room, tail, sorted_by = wanted.room, wanted.tail, wanted.sorted_by
    bad, others = wanted.counts[: chips.NUM_BAD], wanted.counts[chips.NUM_BAD :]
    kinds = bad if sum(bad) <= room - _LEAST_NAME else ()
    shared = _Shared(wanted, room - sum(kinds))
    shared.take(sorted_by)
    if room >= _BESIDE_NAME and sorted_by not in _FINITE:
        shared.take("op type")
    shared.take_all(first)
    spare = shared.left if sorted_by in _FINITE else min(shared.left, room - sum(kinds) - tail)
    finite = _finite_counts(others, spare) if kinds else ()
    shared.left -= sum(finite)
    shared.widen(max(tail, good))
    shared.take(*_FIRST)
    shared.widen(_LONG_NAME)
    shared.take("op type", *_LAST)
    shared.take_all(_EXTREMES)
    shared.take(*_BESIDES)
    shared.widen(wanted.full)
    return TraceColumns(
        shared.name + min(shared.left, _SPARE), "", shared.in_order(), kinds + finite
    )


def _finite_counts(widths: tuple[int, ...], room: int) -> tuple[int, ...]:
    """Return the widths of the counts of what is finite that there is room for.

    Of these, zeros tell most: of logarithms and divisions.
    """
    zeros = tuple(width if i == _ZERO else 0 for i, width in enumerate(widths))
    return next((each for each in (widths, zeros) if sum(each) <= room), ())


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


def _in_steps(width: int) -> int:
    return max(_LEAST_NAME, -(-width // _STEP) * _STEP)


def _common_scopes(names: Sequence[str]) -> str:
    """Return the scopes that all names begin with, with a slash behind; "" for none."""
    if len(names) < 2:
        return ""
    first, last = min(names).split("/")[:-2], max(names).split("/")[:-2]
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return "/".join(first[:same]) + "/" if same else ""
