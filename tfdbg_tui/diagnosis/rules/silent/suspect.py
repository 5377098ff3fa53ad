"""A place with a silent defect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.history import by_step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.rules.model import Defect, Match
    from tfdbg_tui.logdir import Layer, Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place with a silent defect.

    Attributes:
        event: A tensor that shows it.
        rule: The rule that describes it.
        match: Certainty and evidence.
        times: How many tensors show it, as far as looked at.
        layer: The layer that it is about; None for that of the op.
        others: Other layers that show it too.
        since: The first step that shows it, where all later ones do as well; None where that is
            not known, or it is in the step of the tensor.
        line: The line to look at, where that is not the line of the op.
        stack_id: The stack that leads to it, where that is not the stack of the op.
    """

    event: TensorEvent
    rule: Defect
    match: Match
    times: int
    layer: Layer | None = None
    others: tuple[Layer, ...] = ()
    since: int | None = None
    line: Location | None = None
    stack_id: int | None = None


def first_and_others(
    layers: Iterable[Layer | None],
) -> tuple[Layer | None, tuple[Layer, ...]]:
    """Return the layer that a suspect is about, and the others that show it: the first, the rest.

    Args:
        layers: The layers, each as often as it shows it; None for what is in none.
    """
    first, *others = dict.fromkeys(layers) or (None,)
    return first, tuple(layer for layer in others if layer is not None)


def first_step(run: Run, found: Magnitudes) -> int | None:
    """Return the first step in which something was measured; None where it was in none.

    Args:
        run: The run.
        found: What was measured.
    """
    steps, _ = by_step(run, found)
    return int(steps[0]) if steps.size else None


def in_which_steps(run: Run, found: Magnitudes) -> str:
    """Return from which step to which something was measured, as the end of a sentence.

    Args:
        run: The run.
        found: What was measured.
    """
    steps, _ = by_step(run, found)
    if not steps.size:
        return ""
    first, last = f"{steps[0]:,}", f"{steps[-1]:,}"
    return f", from step {first} to {last}" if first != last else f", in step {first}"
