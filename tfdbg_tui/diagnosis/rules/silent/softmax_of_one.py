"""A softmax over a single number, which is 1 whatever that number is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import op_type_of, summary_of
from tfdbg_tui.diagnosis.losses import all_comes_through, losses, made_of
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import SOFTMAX_OF_ONE
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.rules.silent.saturation import Measured
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_CROSS_ENTROPIES = frozenset(
    {"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"}
)
_MAKE_SHARES = _CROSS_ENTROPIES | {"Softmax"}


def find_softmax_of_one(dataflow: Dataflow, measured: Measured) -> Iterator[Suspect]:
    """Yield each softmax over one number, where all that is trained is trained by that number.

    Attention to a single key, or a mixture of one, is a softmax over one number as well: there a
    loss is made of other results besides.

    Args:
        dataflow: Of the run.
        measured: Its tensors that were measured.
    """
    run = dataflow.run
    ones = {
        place_of(run, event): (event, found)
        for event, found in measured
        if _is_one(run, event, found) or _is_of_one_class(dataflow, event, found)
    }
    if not ones:
        return
    for loss in losses(dataflow):
        users = made_of(dataflow, loss)
        for made in users:
            uses = (use.event for use in dataflow.consumers(made) if use.op_type in _MAKE_SHARES)
            places = {place_of(run, use) for use in uses if use is not None} & ones.keys()
            if not places or not all_comes_through(dataflow, users, made):
                continue
            for event, found in map(ones.__getitem__, places):
                result = "result is 1" if op_type_of(run, event) == "Softmax" else "loss is 0"
                evidence = f"each {result} in all {len(found):,} computations measured"
                yield Suspect(event, SOFTMAX_OF_ONE, Match("proved", evidence), len(found))


def _is_one(run: Run, event: TensorEvent, found: Magnitudes) -> bool:
    """Whether each share is 1: of two or more they are less, or the least is 0."""
    summary = summary_of(run, event) if op_type_of(run, event) == "Softmax" else None
    return bool((found.largest == 1).all()) and summary is not None and summary.minimum == 1


def _is_of_one_class(dataflow: Dataflow, event: TensorEvent, found: Magnitudes) -> bool:
    """Whether each cross entropy is 0, and there are as many as numbers that they are made of."""
    if event.slot or op_type_of(dataflow.run, event) not in _CROSS_ENTROPIES or found.largest.any():
        return False
    logits = dataflow.producers(event)[0].event
    summaries = [summary_of(dataflow.run, one) for one in (event, logits) if one is not None]
    sizes = [summary.size for summary in summaries if summary is not None]
    return len(sizes) == 2 and sizes[0] is not None and sizes[0] == sizes[1]
