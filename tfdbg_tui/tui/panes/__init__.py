"""One file a pane: what it lists and how it looks; and `PANES`, which everything else iterates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.tui.panes import (
    alerts,
    cause,
    graph_execution,
    graph_structure,
    source_code,
    stack_trace,
    timeline,
    why,
    workers,
)

if TYPE_CHECKING:
    from tfdbg_tui.tui.panes.base import PaneSpec
    from tfdbg_tui.tui.session.snapshot import Snapshot

PANES: tuple[PaneSpec, ...] = (
    alerts.SPEC,
    timeline.SPEC,
    graph_execution.SPEC,
    graph_structure.SPEC,
    source_code.SPEC,
    stack_trace.SPEC,
    workers.SPEC,
    why.SPEC,
    cause.SPEC,
)
"""All panes, in the order of their numbers."""


def pane_named(name: str) -> PaneSpec:
    """Return a pane by its name."""
    return next(spec for spec in PANES if spec.name == name)


def group_of(name: str, snapshot: Snapshot | None) -> tuple[PaneSpec, ...]:
    """Return the panes that a pane stands among: those with numbers, or those that `w` opens."""
    asked = pane_named(name).answers_why
    return tuple(spec for spec in present_panes(snapshot) if spec.answers_why == asked)


def present_panes(snapshot: Snapshot | None) -> tuple[PaneSpec, ...]:
    """Return the panes that there are for a run, as far as it is read, in numerical order."""
    return tuple(spec for spec in PANES if spec.is_there(snapshot))


def numbered_panes() -> tuple[PaneSpec, ...]:
    """Return the panes that no key opens and closes, in the order of their numbers."""
    return tuple(spec for spec in PANES if not spec.answers_why)


def key_of(spec: PaneSpec) -> str:
    """Return the key that goes to a pane: its number, up to 9."""
    if spec.answers_why:
        return spec.key
    number = numbered_panes().index(spec) + 1
    return str(number) if number < 10 else ""
