"""The sizes of panes that the user has chosen, and where they are kept."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from tfdbg_tui.user_files import state_path, write_whole

if TYPE_CHECKING:
    GridSizes = dict[str, dict[str, tuple[int, ...]]]
    """By arrangement and axis, the shares of the columns or rows."""


def read_grid_sizes() -> GridSizes:
    """Return the sizes that were chosen before; none where there are none, or none readable."""
    try:
        with open(_path(), encoding="utf-8") as file:
            kept = json.load(file)
        return {
            layout: {axis: _sizes(cells) for axis, cells in axes.items()}
            for layout, axes in kept.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep_grid_sizes(sizes: GridSizes) -> None:
    """Remember sizes."""
    with contextlib.suppress(OSError):  # the app ends: nobody is there any more to be told
        write_whole(_path(), json.dumps(sizes))


def _sizes(cells: Any) -> tuple[int, ...]:
    sizes = tuple(map(int, cells))
    if len(sizes) != 3 or min(sizes) < 1:
        raise ValueError(sizes)
    return sizes


def _path() -> str:
    return state_path("pane_sizes.json")
