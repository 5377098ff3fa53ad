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


def step_of(dataflow: Dataflow, event: TensorEvent) -> int | None:
    """Return the training step of an event, recorded or counted; None where it is in none.

    What a data pipeline makes is in none: it is made ahead, while other steps run.

    Args:
        dataflow: Of the run.
        event: A tensor that was made.
    """
    in_graph = event.kind == "graph_execution"
    if in_graph and is_made_ahead(dataflow, event):
        return None
    if in_graph and (recorded := dataflow.run.graph_executions[event.index].step) is not None:
        return recorded
    execution = dataflow.timeline.execution_at(event)
    return dataflow.run.executions.steps.of(execution) if execution is not None else None


def step_before(dataflow: Dataflow, event: TensorEvent) -> int | None:
    """Return the step after which an event was, before the next began; None where it is in one.

    That is so of a validation. What a data pipeline makes ahead is after none, either.

    Args:
        dataflow: Of the run.
        event: A tensor that was made.
    """
    if step_of(dataflow, event) is not None or is_made_ahead(dataflow, event):
        return None
    execution = dataflow.timeline.execution_at(event)
    return dataflow.run.executions.steps.before(execution) if execution is not None else None


def computed_in_step(dataflow: Dataflow, event: TensorEvent, step: int) -> TensorEvent:
    """Return the last computation of a tensor up to the end of a step; before all, the first.

    Args:
        dataflow: Of the run.
        event: One of its computations.
        step: The step.
    """
    history = history_of(dataflow, event)

    def step_at(position: int) -> int:
        found = step_of(dataflow, history.event(position))
        return -1 if found is None else found

    after = bisect.bisect_right(range(len(history)), step, key=step_at)
    return history.event(max(0, after - 1))


def is_made_ahead(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a data pipeline has made a tensor: before the step that uses it, or in it.

    Args:
        dataflow: Of the run.
        event: A tensor that was made.
    """
    graph_id = graph_id_of(dataflow.run, event)
    return graph_id is not None and dataflow.calls.in_pipeline(graph_id)


def iteration_of(run: Run, event: TensorEvent) -> int | None:
    """Return the iteration of the innermost loop around a tensor's op, where that is recorded."""
    in_graph = event.kind == "graph_execution"
    return run.graph_executions[event.index].iteration if in_graph else None


def element_of(dataflow: Dataflow, event: TensorEvent) -> int | None:
    """Return which element of a dataset a function's loop over it had, from 0, for a tensor.

    None where it was not made once for each element.

    Args:
        dataflow: Of the run.
        event: A tensor that was made.
    """
    run, calls = dataflow.run, dataflow.calls
    graph_id = graph_id_of(run, event)
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
    place = _place_in_execution(dataflow, event)
    return place[0] if place is not None else None


def batch_of(dataflow: Dataflow, event: TensorEvent, step: int) -> FitBatch | None:
    """Return the batch of Keras' `fit` that a tensor was made for.

    Of a step that is several batches (`steps_per_execution`) it is one of these if an op of a graph
    has run once for each.

    Args:
        dataflow: Of the run.
        event: A tensor that was made.
        step: The step that it was made in.
    """
    batch = dataflow.run.fit_batch(step)
    if batch is None or batch.batch == batch.last_batch or event.kind != "graph_execution":
        return batch
    if step_of(dataflow, event) != step:
        return batch
    place = _place_in_execution(dataflow, event)
    if place is None or place[1] != batch.last_batch - batch.batch + 1:
        return batch
    mine = batch.batch + place[0]
    return batch._replace(batch=mine, last_batch=mine)


def _place_in_execution(dataflow: Dataflow, event: TensorEvent) -> tuple[int, int] | None:
    """Return how many computations of a tensor an execution made before one, and how many in all.

    None where the execution is not known.
    """
    timeline = dataflow.timeline
    rows, mine = timeline.rows_of(event.index), timeline.execution_of(event.index)
    if mine is None:
        return None

    def execution_of(row: int) -> int:
        return timeline.execution_of(int(row)) or 0

    position = bisect.bisect_left(rows, event.index)
    first = bisect.bisect_left(rows, mine, hi=position, key=execution_of)
    end = bisect.bisect_right(rows, mine, lo=position, key=execution_of)
    return position - first, end - first


def iteration_text(iteration: int | None) -> str:
    """Return an iteration as ``iteration 7``; "" where there is none."""
    return "" if iteration is None else f"iteration {iteration:,}"


def when_text(
    run: Run, step: int | None, after: int | None = None, batch: FitBatch | None = None
) -> str:
    """Return a step among all: ``step 6 of 0 to 23``; "" where there is none.

    Of Keras' `fit` it says which batch that is; steps that the program has not marked are said to
    be counted.

    Args:
        run: The run.
        step: The step; None for what is in none.
        after: The step after which that was, as a validation; None where it is before all.
        batch: The batch, where it is known better than the step; see `batch_of`.
    """
    if step is None:
        return f"{_AFTER}{when_text(run, after)}" if after is not None else ""
    steps = run.executions.steps
    batch = batch or run.fit_batch(step)
    among = f"step {step:,}"
    if len(steps) >= 2:
        among += f" of {int(steps.numbers[0]):,} to {int(steps.numbers[-1]):,}"
        among += counted_text(run) if batch is None else ""
    return f"{among}, {batch_text(batch)}" if batch else among


def since_text(run: Run, step: int) -> str:
    """Return from which step on something was, among all: ``steps 6 to 23 of 0 to 23``.

    Args:
        run: The run.
        step: The first one.
    """
    steps = run.executions.steps
    first, last = int(steps.numbers[0]), int(steps.numbers[-1])
    if step == last:
        return when_text(run, step)
    all_of = f" of {first:,} to {last:,}" if step > first else ""
    batch = run.fit_batch(step) if step > first else None
    since = f", from {batch_text(batch)} on" if batch else ""
    counted = counted_text(run) if run.fit_batch(step) is None else ""
    return f"steps {step:,} to {last:,}{all_of}{counted}{since}"


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
