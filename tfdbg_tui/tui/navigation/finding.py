"""To what the user names: a text in the list, an index, an op, a source line."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.tui.navigation.moving import move_to
from tfdbg_tui.tui.navigation.nowhere import NowhereError
from tfdbg_tui.tui.panes.lists import LISTS
from tfdbg_tui.tui.panes.matching import matches
from tfdbg_tui.tui.session.focus import Focus, OpName, PaneName, Place
from tfdbg_tui.tui.session.focusing import focus_alert, focus_graph_execution, focus_op

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.snapshot import Snapshot


def search(snapshot: Snapshot, focus: Focus, text: str, step: int, *, inclusive: bool) -> Focus:
    """Go to the next (1) or previous (-1) row of the focused pane that matches.

    Args:
        snapshot: The run.
        focus: The focus.
        text: What to look for; capital letters count only if it has any.
        step: Direction.
        inclusive: Whether the focused row itself may be the match.

    Raises:
        NowhereError: No row matches.
    """
    pane_list = LISTS[focus.pane]
    position = pane_list.position(snapshot, focus)
    start = 0 if position is None else position + (0 if inclusive else step)
    found = pane_list.find(snapshot, focus, text, start, step)
    if found is None:  # wrap around
        end = 0 if step > 0 else pane_list.count(snapshot, focus) - 1
        found = pane_list.find(snapshot, focus, text, end, step)
    if found is None:
        raise NowhereError(f"not found: {text}")
    return pane_list.select(snapshot, focus, found)


def goto(snapshot: Snapshot, focus: Focus, target: str) -> Focus:
    """Go to what `target` names.

    Args:
        snapshot: The run.
        focus: The focus.
        target: ``trace:88``, ``exec:12``, ``alert:3``, a number in the focused pane's list,
            ``file.py:120``, or a part of the name of an op.  Alerts and lines count from 1.

    Raises:
        NowhereError: There is no such thing.
    """
    target = target.strip()
    if match := re.fullmatch(r"(?:(trace|exec|alert):)?(\d[\d,_]*)", target):
        index = int(re.sub(r"\D", "", match[2])[:18])
        return _goto_index(snapshot, focus, match[1], index)
    if match := re.fullmatch(r"(.+):(\d+)", target):
        place = find_place(snapshot, match[1], int(match[2][:9]))
        if place is not None:
            return replace(focus, place=place, pane="source_code")
    return _goto_op(snapshot, focus, target)


def find_place(snapshot: Snapshot, path: str, line: int) -> Place | None:
    """Return a line of the first source file whose path ends in `path`."""
    for host, known in snapshot.run.source_paths:
        if (
            known == path
            or known.endswith("/" + path.lstrip("/"))
            or (os.path.basename(known) == path)
        ):
            return Place(host, known, max(1, line))
    return None


_LISTS_BY_PREFIX: dict[str, PaneName] = {
    "trace": "graph_execution",
    "exec": "timeline",
    "alert": "alerts",
}


def _goto_index(snapshot: Snapshot, focus: Focus, prefix: str | None, index: int) -> Focus:
    if prefix is None and focus.pane == "source_code":
        return move_to(snapshot, focus, index - 1)
    in_list = focus.pane in _LISTS_BY_PREFIX.values()
    pane = _LISTS_BY_PREFIX[prefix] if prefix else focus.pane if in_list else "graph_execution"
    if pane == "alerts":
        return _goto_alert(snapshot, focus, index)
    moved = replace(focus, pane=pane, bad_only=False)
    count = LISTS[pane].count(snapshot, moved)
    if index >= count:
        raise NowhereError(f"there is no {index:,}: the last one is {count - 1:,}")
    return move_to(snapshot, moved, index)


def _goto_alert(snapshot: Snapshot, focus: Focus, number: int) -> Focus:
    count = len(snapshot.alerts)
    if not 1 <= number <= count:
        raise NowhereError(f"there is no alert {number:,}: there are {count:,}, from 1 on")
    return focus_alert(snapshot, replace(focus, pane="alerts"), number - 1)


def _goto_op(snapshot: Snapshot, focus: Focus, name: str) -> Focus:
    """Focus the op whose name fits best, and its first computation."""
    op_name = name.rpartition(":")[0] if re.search(r":\d+$", name) else name
    found: list[tuple[int, int, OpName]] = []
    for order, graph in enumerate(list(snapshot.run.graphs.values())):
        if op_name in graph.ops:
            found.append((0, order, OpName(graph.graph_id, op_name)))
            continue
        part = next((op for op in list(graph.ops) if matches(op_name, op)), None)
        if part is not None:
            found.append((1, order, OpName(graph.graph_id, part)))
    if not name or not found:
        raise NowhereError(f"no op, line or index is called {name!r}")
    # The same name is often in several graphs: one that was computed comes first.
    last = len(snapshot.run.graph_executions) - 1
    _, _, op = min(found, key=lambda f: (f[0], snapshot.computation(f[2], None, last) is None))
    row = snapshot.computation(op, None, last)
    if row is not None:
        focus = focus_graph_execution(snapshot, focus, row)
    return replace(focus_op(snapshot, focus, op), pane="graph_structure")
