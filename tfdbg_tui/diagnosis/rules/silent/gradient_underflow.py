"""Gradients that float16 rounds to 0, or leaves few digits of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis.history import dtype_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.explanations import GRADIENT_UNDERFLOW
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.values import told_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.rules.silent.layer_gradients import LayerGradient
    from tfdbg_tui.logdir import Run

_SMALLEST_HALF = float(np.finfo(np.float16).tiny)  # that has all its digits


def find_underflowing(run: Run, gradients: list[LayerGradient]) -> Iterator[Suspect]:
    """Yield the first gradient in float16, if all are below what has all its digits, all the time.

    One alone may be of what the program leaves out.
    """
    half = [gradient for gradient in gradients if dtype_of(run, gradient.event) == "float16"]
    largest = max((float(gradient.largest.max()) for gradient in half), default=np.inf)
    if len(half) < 2 or largest >= _SMALLEST_HALF:
        return
    first = min(half, key=lambda gradient: gradient.event.index)
    reached, bound = told_apart(largest, _SMALLEST_HALF, 3)
    evidence = (
        f"all {len(half):,} gradients of layers in float16 are at most {reached} in all "
        f"{len(first.largest):,} steps measured: numbers below {bound} lose digits, "
        "and those below 3e-8 are 0"
    )
    yield Suspect(first.event, GRADIENT_UNDERFLOW, Match("likely", evidence), len(half))
