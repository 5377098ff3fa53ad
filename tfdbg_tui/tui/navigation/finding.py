"""To what the user names: a text in the list, an index, an op, a source line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.query import parse
from tfdbg_tui.tui.navigation.candidates import destinations
from tfdbg_tui.tui.panes import PANES, graph_execution, pane_named, timeline
from tfdbg_tui.tui.panes.matching import Matches
from tfdbg_tui.tui.session.focusing import focus_execution, focus_graph_execution
from tfdbg_tui.tui.session.nowhere import NowhereError

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_USUAL_PREFIX = "trace"  # of a number alone, where the focused pane has none


def search(
    snapshot: Snapshot, focus: Focus, matches: Matches, step: int, *, inclusive: bool
) -> Focus:
    """Go to the next (1) or previous (-1) row of the focused pane that matches, or around.

    Args:
        snapshot: The run.
        focus: The focus.
        matches: The rows that match.
        step: Direction.
        inclusive: Whether the focused row itself may be the match.

    Raises:
        NowhereError: No row matches.
    """
    rows = pane_named(focus.pane).rows
    seen = rows.for_search(snapshot, focus)
    position = rows.position(snapshot, seen)
    start = 0 if position is None else position + (0 if inclusive else step)
    found = matches.next(start, step)
    if found is None:
        found = matches.next(0 if step > 0 else rows.count(snapshot, seen) - 1, step)
    if found is None:
        raise NowhereError(f"not found in {pane_named(focus.pane).title}")
    return rows.select_found(snapshot, focus, found)


def goto(snapshot: Snapshot, focus: Focus, target: str) -> Focus:
    """Go to what `target` names.

    Args:
        snapshot: The run.
        focus: The focus.
        target: ``trace:88``, ``exec:12``, ``alert:3``, a number in the focused pane's list,
            ``exec:12:1`` (its second output), ``step:6``, ``epoch:4``, ``batch 11 of epoch 4``,
            ``fn:loss``, ``device:GPU:0``, ``file.py:120``, ``file.py``, or a part of the name of an
            op.  Alerts and lines count from 1.  A space may stand for the first colon.

    Raises:
        NowhereError: There is no such thing.
    """
    prefixes = "|".join(spec.prefix for spec in PANES if spec.prefix)
    target = re.sub(rf"^({prefixes}|step|epoch|fn|device)\s+", r"\1:", target.strip())
    if match := re.fullmatch(rf"(?:({prefixes}):)?(\d[\d,_]*)", target):
        return _goto_number(snapshot, focus, match[1], _number(match[2]))
    if match := re.fullmatch(r"step:(\d[\d,_]*)", target):
        return _goto_step(snapshot, focus, _number(match[1]))
    if match := re.fullmatch(r"(?:batch ([\d,]+) of )?epoch[: ]([\d,]+)", target):
        return _goto_epoch(snapshot, focus, _number(match[2]), _number(match[1] or "1"))
    if match := re.fullmatch(r"exec:(\d+):(\d+)", target):
        return _goto_output(snapshot, focus, int(match[1][:18]), int(match[2][:9]))
    if match := re.fullmatch(r"(fn|device):(.+)", target):
        return _goto_first(snapshot, focus, match[1], match[2])
    for spec in reversed(PANES):  # files before ops: both may have a colon and a number
        found = spec.rows.go_to_name(snapshot, focus, target) if target else None
        if found is not None:
            return replace(found, pane=spec.name)
    if len(destinations(snapshot, target)) > 1:
        raise NowhereError(f"{target!r} is in several names: Tab after : goes through them")
    raise NowhereError(f"no op, line or index is called {target!r}: / finds parts of names")


def _goto_step(snapshot: Snapshot, focus: Focus, number: int) -> Focus:
    """Go to the first execution of a training step."""
    found = snapshot.run.executions.steps.first_execution(number)
    if found is None:
        raise NowhereError(f"nothing of step {number:,} has been recorded")
    focus = focus_execution(snapshot, focus.filtered(timeline.SPEC.name, ""), found)
    return replace(focus, pane=timeline.SPEC.name)


def _goto_epoch(snapshot: Snapshot, focus: Focus, epoch: int, batch: int) -> Focus:
    """Go to the first execution of a batch of Keras' `fit`, or of the next one on record."""
    step = snapshot.run.step_of_batch(epoch, batch)
    if step is None:
        raise NowhereError(f"no batch {batch:,} of an epoch {epoch:,} has been recorded")
    later = snapshot.run.executions.steps.from_number(step)
    return _goto_step(snapshot, focus, step if later is None else later)


def _number(digits: str) -> int:
    """Return the number of digits with separators; none is so large that it would take long."""
    return int(re.sub(r"\D", "", digits)[:18] or 0)


def _goto_output(snapshot: Snapshot, focus: Focus, index: int, slot: int) -> Focus:
    """Go to an output of an execution."""
    executions = snapshot.run.executions
    if index >= len(executions) or slot >= executions.kind(index).num_outputs:
        raise NowhereError(f"there is no output {slot} of an execution {index:,}")
    focus = focus.filtered(timeline.SPEC.name, "")
    return replace(focus_execution(snapshot, focus, index, slot), pane=timeline.SPEC.name)


def _goto_first(snapshot: Snapshot, focus: Focus, field: str, name: str) -> Focus:
    """Go to the first tensor that was computed in a function, or on a device."""
    traces = snapshot.run.graph_executions
    (test,) = snapshot.row_tests("graph_execution").of(parse(f'{field}="{name}"').texts)
    found = Matches(len(traces), test).next(0, 1)
    if found is None:
        of_field = "in a function" if field == "fn" else "on a device"
        raise NowhereError(f"no tensor of a graph was computed {of_field} called {name!r}")
    pane = graph_execution.SPEC.name
    return replace(focus_graph_execution(snapshot, focus.filtered(pane, ""), found), pane=pane)


def _goto_number(snapshot: Snapshot, focus: Focus, prefix: str | None, number: int) -> Focus:
    """Go to a row by its number: of the pane that a prefix means, or else of the focused pane."""
    if prefix is None:
        found = pane_named(focus.pane).rows.go_to_number(snapshot, focus, number)
        if found is not None:
            return found
    spec = next(spec for spec in PANES if spec.prefix == (prefix or _USUAL_PREFIX))
    found = spec.rows.go_to_number(snapshot, focus, number)
    return focus if found is None else replace(found, pane=spec.name)
