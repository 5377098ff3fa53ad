"""How many alerts there are, by what is bad in them and by the type of their op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from tfdbg_tui.diagnosis import readable_function
from tfdbg_tui.tui.terminal.text import compact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfdbg_tui.tui.session.snapshot import Snapshot
    from tfdbg_tui.tui.terminal.text import Charset
    from tfdbg_tui.tui.widgets.cells import Cell, Line

_WIDE = 70


def kind_chips(snapshot: Snapshot, chosen: str | None, charset: Charset) -> Line:
    """Return a chip for each kind of bad values, with the number of alerts that hold such.

    A filter leaves the numbers as they are: where it is for one kind, others stand out less.

    Args:
        snapshot: What is shown.
        chosen: The kind that a filter is for, or None.
        charset: The characters to draw with.
    """
    more = "+" if snapshot.counted_alerts < len(snapshot.alerts) else ""
    inf, minus = charset.inf, charset.minus
    cells: list[Cell] = [(" ", "")]
    for label, field, kind in (
        ("NaN", "nan", "nan"),
        (f"{minus}{inf}", "neg_inf", "-inf"),
        (f"+{inf}", "pos_inf", "+inf"),
        (f"NaN or {inf}", "unknown", None),
    ):
        if count := getattr(snapshot.alert_counts, field):
            style = "chip-bad" if chosen in (None, kind) else "chip"
            cells += [(f" {label} {compact(count)}{more} ", style), (" ", "")]
    return tuple(cells)


def op_type_bars(
    counts: Mapping[str, int], number: int, width: int, charset: Charset
) -> tuple[Line, ...]:
    """Return the op types with most alerts, with bars, and how many more there are.

    Args:
        counts: Alerts by op type.
        number: How many op types are told.
        width: Cells of a line.
        charset: The characters to draw with.
    """
    types = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown, most = types[:number], types[0][1]
    bar_width = max(3, width // 5)
    names = [charset.safe(readable_function(name)) for name, _ in shown]
    name_width = width - bar_width - 9
    if width >= _WIDE:  # else the numbers stand above those of the causes
        name_width = min(name_width, max(map(cell_len, names)))
    lines: list[Line] = []
    for name, (_, count) in zip(names, shown, strict=True):
        bar = charset.bars[-1] * max(1, round(bar_width * count / most))
        told = (f" {charset.fit_name(name, name_width)}", "")
        lines.append((told, (f"{compact(count):>6} ", "dim"), (bar, "bad")))
    if len(types) > number:
        lines.append(((f" and {len(types) - number} more op types", "faint"),))
    return tuple(lines)
