"""Whether a training learns anything, as its losses tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.history import by_step
from tfdbg_tui.diagnosis.losses import losses, magnitudes_of_loss

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow

_MANY = 5  # measured steps of a loss
_SAME = 0.98  # of a loss is no less than it was


def loss_stands(dataflow: Dataflow, same: float = _SAME) -> bool:
    """Whether losses are on record, and none has become smaller.

    Args:
        dataflow: Of the run.
        same: Of what a loss was it is still no less.
    """
    return any(True for _ in losses(dataflow)) and not learns(dataflow, same)


def learns(dataflow: Dataflow, same: float = _SAME) -> bool:
    """Whether a loss has become smaller, or none was measured often enough to tell.

    Args:
        dataflow: Of the run.
        same: Of what a loss was it is still no less where nothing is learned.
    """
    for loss in losses(dataflow):
        _, largest = by_step(dataflow.run, magnitudes_of_loss(dataflow, loss))
        third = len(largest) // 3
        if len(largest) < _MANY or np.median(largest[-third:]) < same * np.median(largest[:third]):
            return True
    return False
