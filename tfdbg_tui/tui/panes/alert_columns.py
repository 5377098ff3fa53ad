"""Which columns Alerts has for its alerts, and how wide: as much as the rows on screen need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import (
    graph_id_of,
    iteration_of,
    iteration_text,
    op_type_of,
    readable_function,
    stack_id_of,
)
from tfdbg_tui.tui.panes.functions import EAGER, told_functions
from tfdbg_tui.tui.widgets.chips import brief_text
from tfdbg_tui.tui.widgets.names import least_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset

_TAIL = 28  # the last two parts of most names; longer ones take cells of the columns behind them
_NARROW = 24  # without room for anything beside the names
_LEAST_FACT = 8
_LEAST_FUNCTION = 20  # where less is left, op types go instead


@dataclass(frozen=True, slots=True)
class AlertColumns:
    """The columns, in cells.

    Attributes:
        name: Width of the tensor's name; 0 where nothing has room beside it.
        kinds: Width of how many of its elements are bad, the space in front of it included.
        facts: Title and width of each further column, the space in front of it included.
    """

    name: int = 0
    kinds: int = 0
    facts: tuple[tuple[str, int], ...] = ()


def facts_of(snapshot: Snapshot, event: TensorEvent, charset: Charset) -> dict[str, str]:
    """Return what is told of an alert beside its name, by title; the most important first.

    Args:
        snapshot: What is shown.
        event: The alert's tensor.
        charset: The characters to draw with.
    """
    graph_id = graph_id_of(snapshot.run, event)
    stack_id = stack_id_of(snapshot.run, event)
    op_type = readable_function(op_type_of(snapshot.run, event) or "")
    facts = {
        "function": snapshot.graph_name(graph_id) if graph_id else EAGER,
        "op type": op_type if graph_id else "",  # eager tensors are named by it
        "line": "" if stack_id is None else snapshot.line(stack_id),
        "step": snapshot.step_text(event).partition(" (")[0].removeprefix("made "),
        "iteration": iteration_text(iteration_of(snapshot.run, event)),
        # Of a loop in Python nothing else tells one execution from the next.
        "execution": "" if graph_id else f"exec {event.index:,}",
        "batch": snapshot.batch_text(event),
    }
    return {title: charset.safe(text) for title, text in facts.items()}


def choose_columns(
    snapshot: Snapshot, alerts: Sequence[TensorEvent], room: int, charset: Charset
) -> AlertColumns:
    """Return the columns for some alerts: what else there is of them gets what their names leave.

    Args:
        snapshot: What is shown.
        alerts: The tensors of the alerts on screen.
        room: Cells for all columns.
        charset: The characters to draw with.
    """
    names = [charset.safe(snapshot.tensor_name(event)) for event in alerts]
    told = (brief_text(snapshot.summary(event), charset) for event in alerts)
    kinds = 1 + max(map(cell_len, told), default=0)
    room -= kinds
    name = _width_of_names(names, room)
    if not name:
        return AlertColumns(name, kinds)
    columns = _widths(_told_facts(snapshot, alerts, charset), room - name)
    # Cells too few for another column are for names that are cut.
    left = room - name - sum(width for _, width in columns)
    return AlertColumns(min(max(map(cell_len, names)), name + left), kinds, columns)


def _width_of_names(names: Sequence[str], room: int) -> int:
    """Return how wide the column of names is; 0 where nothing has room beside it."""
    longest = max(map(cell_len, names), default=0)
    wide = min(longest, max(room * 3 // 5, min(least_of(names), _TAIL)))
    return wide if room >= _NARROW and room - wide >= _LEAST_FACT else 0


def _told_facts(
    snapshot: Snapshot, alerts: Sequence[TensorEvent], charset: Charset
) -> Sequence[Mapping[str, str]]:
    """Return the facts of some alerts, without columns that would tell nothing of most."""
    facts = [facts_of(snapshot, event, charset) for event in alerts]
    functions = told_functions([fact["function"] for fact in facts])
    all_eager = all(fact["execution"] for fact in facts)
    for fact, function in zip(facts, functions, strict=True):
        fact["function"] = function
        if not all_eager:  # a column for few of the rows would come and go
            fact["execution"] = ""
    return facts


def _widths(facts: Sequence[Mapping[str, str]], room: int) -> tuple[tuple[str, int], ...]:
    """Return the columns for facts, by title: the first gets what there is, others all or nothing.

    A long function leaves the cells that op types take, where enough of it remains.

    Args:
        facts: What there is of each alert in view.
        room: Cells for all columns.
    """
    chosen: list[tuple[str, int]] = []
    op_types = max((cell_len(fact["op type"]) + 1 for fact in facts), default=0)
    for title in facts[0] if facts else ():
        longest = max(cell_len(fact[title]) for fact in facts)
        if longest and (not chosen or longest < room):
            beside = room - op_types
            shared = not chosen and beside >= _LEAST_FUNCTION
            chosen.append((title, min(longest + 1, beside if shared else room)))
            room -= chosen[-1][1]
    return tuple(chosen)
