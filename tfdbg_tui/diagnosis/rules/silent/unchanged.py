"""Layers that are to be trained, and that nothing changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.cuts import find_cuts
from tfdbg_tui.diagnosis.events import TensorEvent, stack_id_of
from tfdbg_tui.diagnosis.layers import output_of
from tfdbg_tui.diagnosis.left_out import find_left_out
from tfdbg_tui.diagnosis.locations import line_that_ran, location_of, starts_fit
from tfdbg_tui.diagnosis.op_traits import OF_WEIGHTS
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import LAYER_NEVER_CHANGES, LEFT_OUT_OF_SESSION
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, first_and_others
from tfdbg_tui.diagnosis.untrained import Untrained, find_untrained
from tfdbg_tui.diagnosis.variable_values import VariableValues, uses_of_value
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.diagnosis.cuts import Cut
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.logdir import Layer, Run, Variable

_NAMED = 3  # variables
_AHEAD = 64  # executions after a result, in which an array that was made of it is looked for


def is_kernel(dataflow: Dataflow, value: TensorEvent) -> bool:
    """Return whether layers multiply data with a value of a variable."""
    return any(use.op_type in OF_WEIGHTS for use in uses_of_value(dataflow, value))


def find_unchanged(dataflow: Dataflow) -> list[Suspect]:
    """Return the layers whose variables nothing changes, though they may be trained."""
    untrained_layers = [*find_untrained(dataflow), *find_left_out(dataflow)]
    found, told = [], set[Untrained]()
    asked = [untrained for untrained in untrained_layers if untrained.asked]
    wanted = {variable.key for untrained in asked for variable in untrained.variables}
    for cut in find_cuts(dataflow, wanted) if wanted else ():
        behind = [one for one in asked if _keys(one) <= {*cut.keys}]
        if behind and told.isdisjoint(behind):
            told.update(behind)
            found.append(_cut_off(behind, cut))
    for untrained in untrained_layers:
        if untrained in told:
            continue
        event = _place(dataflow, untrained)
        taker = None
        if event is None and untrained.layer is not None and untrained.asked:
            event = output_of(dataflow.run, untrained.layer)
            taker = _takes_array_after(dataflow, event) if event is not None else None
            if taker is None:
                continue
        if event is not None:
            asked_at = _lines(dataflow.run, untrained.asked_at)
            match = Match("likely", _evidence(untrained, taker) + _beside(asked_at.values()))
            in_session = untrained.variables[0].key not in dataflow.variables.named
            rule = LEFT_OUT_OF_SESSION if in_session else LAYER_NEVER_CHANGES
            suspect = Suspect(event, rule, match, len(untrained.variables))
            stack_id, line = next(reversed(asked_at.items()), (None, None))
            if taker is not None:
                line = line_that_ran(dataflow.run, stack_id_of(dataflow.run, event))
            found.append(replace(suspect, line=line, stack_id=stack_id))
    return found


def _cut_off(behind: list[Untrained], cut: Cut) -> Suspect:
    """Return what is to be said of the layers that an op lets no gradient through to.

    Args:
        behind: These.
        cut: The op.
    """
    nearest_first = sorted(behind, key=lambda one: min(cut.keys.index(key) for key in _keys(one)))
    variables = tuple(variable for one in nearest_first for variable in one.variables)
    layer, others = first_and_others(one.layer for one in nearest_first)
    assigned = any(one.assigned for one in nearest_first)
    evidence = _evidence(Untrained(layer, variables, asked=True, assigned=assigned), None)
    more = f" and {counted(len(others), 'more layer')}" if others else ""
    match = Match("likely", f"{evidence}; {cut.text} lets no gradient through to it{more}")
    return Suspect(
        cut.event,
        LAYER_NEVER_CHANGES,
        match,
        len(variables),
        layer,
        others,
    )


def _keys(untrained: Untrained) -> set[tuple[int, int]]:
    return {variable.key for variable in untrained.variables}


def _lines(run: Run, stack_ids: Iterable[int]) -> dict[int, Location]:
    """Return the user's lines of some stacks, but for those that leave all the rest to `fit`."""
    lines = {one: location_of(run, one) for one in stack_ids if not starts_fit(run, one)}
    return {stack_id: line for stack_id, line in lines.items() if line is not None}


def _beside(asked_at: Iterable[Location]) -> str:
    """Say where gradients of other variables are asked for."""
    lines = list(dict.fromkeys(line.short for line in asked_at))
    return f"; those of others are asked for at {' and '.join(lines[-_NAMED:])}" if lines else ""


def _place(dataflow: Dataflow, untrained: Untrained) -> TensorEvent | None:
    """Return the last tensor of a layer that something uses, as nobody minds what is not used.

    Where variables were in no layer that was called, the making of the first one, or in a session
    the first that was read of it.
    """
    if untrained.layer is not None:
        return _last_used(dataflow, untrained.layer)
    first = untrained.variables[0]
    return dataflow.timeline.maker_in(*first.key) or _first_read(dataflow, first)


def _first_read(dataflow: Dataflow, variable: Variable) -> TensorEvent | None:
    run = dataflow.run
    values = VariableValues(run, dataflow.calls)
    for site, site_id in list(run.site_numbers.items()):
        value = values.of_site(site)
        if value is not None and value.variable == variable:
            row = int(run.graph_executions.rows_of(site_id)[0])
            return TensorEvent("graph_execution", row, site.output_slot)
    return None


def _last_used(dataflow: Dataflow, layer: Layer) -> TensorEvent | None:
    output = output_of(dataflow.run, layer)
    if output is None or output.kind == "graph_execution":
        return output  # What nothing uses, TensorFlow does not compute.
    return output if dataflow.consumers(output) else None


def _takes_array_after(dataflow: Dataflow, output: TensorEvent) -> Layer | None:
    """Return the layer that takes an array made after a result that no op takes, in the same step.

    So it is where a result goes through NumPy.
    """
    run = dataflow.run
    timeline, steps = dataflow.timeline, run.executions.steps
    made = timeline.output_ids(output.index)[output.slot]
    mine = run.layer_of_kind(run.executions.kind(output.index))
    for row in range(output.index + 1, min(output.index + 1 + _AHEAD, len(run.executions))):
        kind = run.executions.kind(row)
        layer = run.layer_of_kind(kind)
        if kind.op_type not in OF_WEIGHTS or layer in (None, mine):
            continue
        if steps.of(row) != steps.of(output.index):
            break
        given, *_ = timeline.input_ids(row)
        if given > made and timeline.maker(given, row) is None:
            return layer
    return None


def _evidence(untrained: Untrained, taker: Layer | None) -> str:
    names = [variable.name for variable in untrained.variables]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    asked = "no gradient gets to them" if untrained.asked else "nobody asks for their gradients"
    kept = "what is assigned to them is what they were"
    assigned = kept if untrained.assigned else "nothing assigns to them"
    layer = f"layer {untrained.layer.path}: " if untrained.layer else ""
    return (
        f"{layer}{', '.join(names[:_NAMED])}{more}: {asked}, and {assigned}, "
        f"while other variables are trained{_through_numpy(taker)}"
    )


def _through_numpy(taker: Layer | None) -> str:
    """Say where the result of a layer goes on without its gradient."""
    if taker is None:
        return ""
    return f"; no op takes its result, and layer {taker.path} takes an array that was made after it"
