"""Which columns Why has, and how wide: as much as its chain needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.tui.widgets import chips
from tfdbg_tui.tui.widgets.names import least_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST_NAME = 16
"""The least that a tensor's name gets."""

CAME_IN = chips.BRIEF + 3
"""Width of what came in, and an arrow."""

_GOOD_NAME = 36  # of a name tells more than the function does
_TAIL = 28  # the last two parts of most names; longer ones take cells of the columns behind them
_ENOUGH = {"came by": 12, "function": 24, "op type": 14}  # the first ones first
_LEAST_FACT = 12  # narrower than that they tell nothing, unless they need no more
_WIDENED = ("function", "op type")
_ORDER = ("op type", "function", "came by")


@dataclass(frozen=True, slots=True)
class ChainColumns:
    """The columns, in cells.

    Attributes:
        name: Width of the tensor's name.
        facts: Title and width of each further column, the space in front of it included.
        came_in: Whether what came in has room behind them.
    """

    name: int = LEAST_NAME
    facts: tuple[tuple[str, int], ...] = ()
    came_in: bool = False


def choose_columns(
    names: Sequence[str], facts: Mapping[str, Sequence[str]], room: int
) -> ChainColumns:
    """Return the columns for a chain.

    Args:
        names: The name in each row.
        facts: What else may be shown of each, by the title of its column, which without any text
            is left out.
        room: Cells for all of them.
    """
    full = max(map(cell_len, names))
    tail = least_of(names)
    needed = {title: 1 + max(map(cell_len, [title, *texts])) for title, texts in facts.items()}
    name = max(LEAST_NAME, min(full, tail, _TAIL, room))
    left = room - name
    chosen: dict[str, int] = {}
    for title, enough in _ENOUGH.items():
        if not any(facts[title]):
            continue
        if title != "came by":
            more = max(0, min(left, min(full, max(tail, _GOOD_NAME)) - name))
            name, left = name + more, left - more
        width = min(enough, needed[title], max(left, _LEAST_FACT))
        if width <= left:
            chosen[title] = width
            left -= width
    for title in _WIDENED:
        if title in chosen:
            more = min(left, needed[title] - chosen[title])
            chosen[title] += more
            left -= more
    more = max(0, min(left, full - name))
    came_in = len(names) > 1 and left - more >= CAME_IN  # which also stands in the row above
    ordered = tuple((title, chosen[title]) for title in _ORDER if title in chosen)
    return ChainColumns(name + more, ordered, came_in)
