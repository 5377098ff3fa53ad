"""What causes the executions of graphs."""

from __future__ import annotations

from typing import NamedTuple


class Cause(NamedTuple):
    """What the records of an execution of a graph say about where it comes from.

    Attributes:
        wall_time: Seconds since the epoch.
        step: Training step, if there is one.
        serial: Number of the call that runs the graph; 0 where that is not one call.
        measured: Whether the extremes of its tensors are recorded.
    """

    wall_time: float
    step: int | None
    serial: int
    measured: bool = False
