"""The lines of the program whose ops made tensors with NaN or ∞."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.locations import location_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.logdir import Run

_STACKS = 10_000  # that are looked at: each has a line to be found


@dataclass(slots=True)
class BadLine:
    """A line of the program.

    Attributes:
        tensors: How many bad tensors its ops have made.
        is_root: Whether one of them was bad though all that went in was finite.
    """

    tensors: int = 0
    is_root: bool = False


BadLines = dict[str, dict[int, BadLine]]
"""By path of the source file and number of the line."""


def find_bad_lines(run: Run, roots: Iterable[Location | None]) -> BadLines:
    """Return the lines of the user's code whose ops made bad tensors.

    Args:
        run: The run.
        roots: Where the roots were made; those lines are marked.
    """
    lines: BadLines = {}
    for stack_id, tensors in _tensors_by_stack(run).most_common(_STACKS):
        location = location_of(run, stack_id)
        if location is not None:
            _line(lines, location.file, location.line).tensors += tensors
    for location in roots:
        if location is not None:
            _line(lines, location.file, location.line).is_root = True
    return lines


def bad_lines_json(lines: BadLines) -> list[dict[str, Any]]:
    """Return lines in the form of ``diagnose --json``, in the order of files and lines."""
    return [
        {"file": file, "line": number, **asdict(line)}
        for file, numbers in sorted(lines.items())
        for number, line in sorted(numbers.items())
    ]


def _line(lines: BadLines, path: str, number: int) -> BadLine:
    return lines.setdefault(path, {}).setdefault(number, BadLine())


def _tensors_by_stack(run: Run) -> Counter[int]:
    """Return how many bad tensors were made from each stack."""
    stacks: Counter[int] = Counter()
    graph = run.graph_executions
    for site_id, tally in graph.alert_sites():
        site = graph.site_by_id(site_id)
        op = run.op(site.graph_id, site.op_name)
        if op is not None and op.stack_id is not None:
            stacks[op.stack_id] += tally.alerts
    for place, tally in run.executions.bad_places():
        stacks[place.stack] += tally.alerts
    return stacks
