"""What causes the executions of graphs."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Measured(IntEnum):
    """Of what the extremes are recorded in the steps that are measured: all but of loops."""

    NOTHING = 0
    FEW_ITERATIONS = 1
    MANY_ITERATIONS = 2


class Cause(NamedTuple):
    """What the records of an execution of a graph say about where it comes from.

    Attributes:
        wall_time: Seconds since the epoch.
        step: Training step, if there is one.
        serial: Number of the call that runs the graph; 0 where that is not one call.
        measured: Of what in it the extremes are recorded.
    """

    wall_time: float
    step: int | None
    serial: int
    measured: Measured = Measured.NOTHING
