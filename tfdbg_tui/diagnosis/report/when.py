"""When something happened, in steps of the training."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.dataflow.calls import CALLS
from tfdbg_tui.diagnosis.events import graph_id_of
from tfdbg_tui.diagnosis.history import history_of

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import FitBatch, Run, Steps

_NESTED = 16  # calls between a tensor and the loop over a dataset
_AFTER = "after "


def step_of(run: Run, dataflow: Dataflow, event: TensorEvent) -> int | None:
    """Return the training step of an event, recorded or counted; None where it is in none.

    What a data pipeline makes is in none: it is made ahead, while other steps run.

    Args:
        run: The run.
        dataflow: Of the run.
        event: A tensor that was made.
    """
    in_graph = event.kind == "graph_execution"
    if in_graph and is_made_ahead(run, dataflow, event):
        return None
    if in_graph and (recorded := run.graph_executions[event.index].step) is not None:
        return recorded
    execution = dataflow.timeline.execution_at(event)
    return run.executions.steps.of(execution) if execution is not None else None


def step_before(run: Run, dataflow: Dataflow, event: TensorEvent) -> int | None:
    """Return the step after which an event was, before the next began; None where it is in one.

    That is so of a validation. What a data pipeline makes ahead is after none, either.

    Args:
        run: The run.
        dataflow: Of the run.
        event: A tensor that was made.
    """
    if step_of(run, dataflow, event) is not None or is_made_ahead(run, dataflow, event):
        return None
    execution = dataflow.timeline.execution_at(event)
    return run.executions.steps.before(execution) if execution is not None else None


def computed_in_step(run: Run, dataflow: Dataflow, event: TensorEvent, step: int) -> TensorEvent:
    """Return the last computation of a tensor up to the end of a step; before all, the first.

    Args:
        run: The run.
        dataflow: Of the run.
        event: One of its computations.
        step: The step.
    """
    history = history_of(run, dataflow, event)

    def step_at(position: int) -> int:
        found = step_of(run, dataflow, history.event(position))
        return -1 if found is None else found

    after = bisect.bisect_right(range(len(history)), step, key=step_at)
    return history.event(max(0, after - 1))


def is_made_ahead(run: Run, dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a data pipeline has made a tensor: before the step that uses it, or in it.

    Args:
        run: The run.
        dataflow: Of the run.
        event: A tensor that was made.
    """
    graph_id = graph_id_of(run, event)
    return graph_id is not None and dataflow.calls.in_pipeline(graph_id)


def iteration_of(run: Run, event: TensorEvent) -> int | None:
    """Return the iteration of the innermost loop around a tensor's op, where that is recorded."""
    in_graph = event.kind == "graph_execution"
    return run.graph_executions[event.index].iteration if in_graph else None


def element_of(run: Run, dataflow: Dataflow, event: TensorEvent) -> int | None:
    """Return which element of a dataset a function's loop over it had, from 0, for a tensor.

    None where it was not made once for each element.

    Args:
        run: The run.
        dataflow: Of the run.
        event: A tensor that was made.
    """
    calls, timeline, graph_id = dataflow.calls, dataflow.timeline, graph_id_of(run, event)
    if graph_id is None or iteration_of(run, event) is not None or calls.in_pipeline(graph_id):
        return None
    site = calls.call_site(graph_id)
    for _ in range(_NESTED):
        if site is None or site.op is None or site.op.op_type not in CALLS:
            break
        graph_id = site.caller_id
        site = calls.call_site(graph_id)
    if site is None or not calls.takes_elements(graph_id):
        return None
    rows, mine = timeline.rows_of(event.index), timeline.execution_of(event.index)
    position = bisect.bisect_left(rows, event.index)
    if mine is None:
        return None
    return position - bisect.bisect_left(
        rows, mine, hi=position, key=lambda row: timeline.execution_of(int(row)) or 0
    )


def iteration_text(iteration: int | None) -> str:
    """Return an iteration as ``iteration 7``; "" where there is none."""
    return "" if iteration is None else f"iteration {iteration:,}"


def when_text(run: Run, step: int | None, after: int | None = None) -> str:
    """Return a step among all: ``step 6 of 0 to 23``; "" where there is none.

    Of Keras' `fit` it says which batch that is; steps that the program has not marked are said to
    be counted.

    Args:
        run: The run.
        step: The step; None for what is in none.
        after: The step after which that was, as a validation; None where it is before all.
    """
    if step is None:
        return f"{_AFTER}{when_text(run, after)}" if after is not None else ""
    steps = run.executions.steps
    among = f"step {step:,}"
    if len(steps) >= 2:
        among += f" of {int(steps.numbers[0]):,} to {int(steps.numbers[-1]):,}"
        among += counted_text(run)
    batch = run.fit_batch(step)
    return f"{among}, {batch_text(batch)}" if batch else among


def in_words(when: str) -> str:
    """Return when something was, as a `when_text`, as part of a sentence."""
    return when if when.startswith(_AFTER) else f"in {when}"


def counted_text(run: Run) -> str:
    """Return what stands behind a step that the program has not marked; "" where it has."""
    if not run.executions.steps.counted_by:
        return ""
    return " (counted)" if run.has_all_executions else " (counted on record)"


def batch_text(batch: FitBatch) -> str:
    """Return a batch as ``batch 7 of epoch 1``, or ``batches 6 to 10 of epoch 1 of fit 2``."""
    first, last = batch.batch, batch.last_batch
    which = f"batch {first:,}" if first == last else f"batches {first:,} to {last:,}"
    fit = f" of fit {batch.fit:,}" if batch.fit else ""
    return f"{which} of epoch {batch.epoch:,}{fit}"


def steps_json(steps: Steps) -> dict[str, Any] | None:
    """Return the steps of a run in the form of ``diagnose --json``; None where there are none."""
    if not len(steps):
        return None
    return {
        "count": len(steps),
        "first": int(steps.numbers[0]),
        "last": int(steps.numbers[-1]),
        "counted_by": steps.counted_by,
    }
