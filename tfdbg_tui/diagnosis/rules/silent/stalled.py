"""Layers that cannot learn, as magnitudes tell: nothing goes forward through them, or back."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH
from tfdbg_tui.diagnosis.events import graph_id_of, op_type_of, summary_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.history import by_step, dtype_of, magnitudes_of, measured_tensors
from tfdbg_tui.diagnosis.layers import LayersOfOps
from tfdbg_tui.diagnosis.op_traits import ADDS, ARRANGES, only_makes_floats
from tfdbg_tui.diagnosis.rules.model import Explanation, Match
from tfdbg_tui.diagnosis.rules.silent.explanations import (
    DEAD_FROM_THE_FIRST,
    DEAD_RELU,
    GRADIENT_UNDERFLOW,
    LAYER_NEVER_CHANGES,
    NO_GRADIENT,
    OUTPUT_CANCELLED,
    VANISHING_GRADIENT,
)
from tfdbg_tui.diagnosis.rules.silent.saturation import find_saturated
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect, in_which_steps
from tfdbg_tui.diagnosis.training import losses, magnitudes_of_loss
from tfdbg_tui.diagnosis.updates import variables_read
from tfdbg_tui.diagnosis.values import told_apart
from tfdbg_tui.wire.events import SESSION_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Use
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Layer, Run
    from tfdbg_tui.logdir.index.magnitudes import Floats, Magnitudes

_MANY = 5
"""Measured computations up to the last that have to show it: those of eight steps or more."""
SOME_SIZE = 32
"""Elements of a tensor of which it means something that all are alike."""

RECTIFIERS = frozenset({"Relu", "Relu6"})
_REDUCTIONS = frozenset({"Mean", "Sum"})

_OFF = {32: 3, 256: 2}  # elements: measured computations in which all of so many are 0
_OFF_FOR = 5  # computations, from the first of these to the last
_OF_LAYERS = frozenset(
    {
        *("MatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2DBackpropFilter"),
        *("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
    }
)
"""Ops that compute the gradients of a layer's weights and inputs."""
_OF_INPUTS = frozenset({"Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"})
"""Those that do so for inputs alone, which are of any size."""

_OF_CELLS = frozenset({"TanhGrad", "SigmoidGrad", "ReluGrad", "MatMul"})
_ITERATIONS = 3  # that are measured of a long loop at least: 0, 4 and 32
_LONG = 32  # iterations
_SAME = 0.98  # of a loss is no less than it was

_SMALLEST_HALF = float(np.finfo(np.float16).tiny)  # that has all its digits
_TO_NEXT = 3  # ops, from the last gradient in a layer to the first in the one before it
_TO_SUM = 6  # ops, from a gradient of a layer to the sum of what comes to all copies of its result
_CANCELLED = 1e-4  # of what is summed up: the rest is what rounding leaves
_FOLLOWED = 200  # tensors that come of a gradient
_VANISHED = 1e-6  # of the largest gradient of the same step
_VANISHED_IN_VAIN = 1e-4  # of it, where no loss becomes smaller besides
_ARRIVED = 1e-3  # of it: a layer that gets so much back learns, and so did all before it
_SMALL = 1.0  # what is larger does not vanish, whatever others are
_GROWN = 100.0  # times what it was in its first step: it does not vanish either


def find_stalled(run: Run, dataflow: Dataflow) -> list[Suspect]:
    """Return the layers that nothing comes through, in all that was measured of late.

    Args:
        run: The run.
        dataflow: Of the run.
    """
    measured = [(event, found) for event, found in _finite(run) if len(found) >= _MANY]
    if not dataflow.variables.trained:
        return [one for one in _off(run, dataflow, measured) if _is_given(dataflow, one)]
    gradients = _gradients_of_layers(run, measured)
    found = [
        *_off(run, dataflow, measured),
        *find_saturated(run, dataflow, measured),
        *_vanishing(run, dataflow, gradients),
        *_fading(run, dataflow, measured),
    ]
    found = found or list(_underflowing(run, gradients))
    if any(gradient.largest.any() for gradient in gradients):
        return found or list(_unreached(gradients))
    return found or list(_cut_off(run, dataflow, measured, gradients))


def _finite(run: Run) -> Iterator[tuple[TensorEvent, Magnitudes]]:
    """Yield the measured tensors, by those of their computations that hold no NaN and no ∞.

    Of others it is the largest of what is left that is on record, which may be 0.
    """
    bad = {
        "execution": run.executions.alert_rows[:],
        "graph_execution": run.graph_executions.alert_rows[:],
    }
    for event, found in measured_tensors(run):
        before = np.searchsorted(bad[event.kind], found.rows)
        until = np.searchsorted(bad[event.kind], found.rows, side="right")
        yield event, found.some(before == until)


class _Gradient(NamedTuple):
    """A gradient of a layer, and its largest magnitude in each step."""

    event: TensorEvent
    layer: Layer | None
    largest: Floats


def is_hinge(run: Run, dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether the result of a rectifier goes into a single number alone: the loss, as a hinge does.

    That is 0 when all have been learned.

    Args:
        run: The run.
        dataflow: Of the run.
        event: The result.
    """
    uses = [use for use in dataflow.consumers(event) if use.event is not None]
    forward = [use.event for use in uses if use.event and not is_backward(run, use.event)]
    return bool(forward) and all(
        op_type_of(run, made) in _REDUCTIONS and _size(run, made) == 1 for made in forward
    )


def _off(
    run: Run, dataflow: Dataflow, measured: list[tuple[TensorEvent, Magnitudes]]
) -> Iterator[Suspect]:
    """Yield the rectifiers that let nothing through."""
    for event, found in measured:
        if op_type_of(run, event) not in RECTIFIERS or found.largest[-1]:
            continue
        on, size = np.flatnonzero(found.largest), _size(run, event)
        times = len(found) - (int(on[-1]) + 1 if on.size else 0)
        off = found.some(np.arange(len(found) - times, len(found)))
        is_off = any(size >= least and times >= needed for least, needed in _OFF.items())
        if (
            is_off
            and _computations(dataflow, event, off) >= _OFF_FOR
            and not is_hinge(run, dataflow, event)
            and not _is_given_zeros(dataflow, event, times)
        ):
            always = times == len(found)
            evidence = (
                f"all {size:,} outputs are 0 in {'all' if always else 'the last'} {times:,} "
                f"computations measured{in_which_steps(run, off)}"
            )
            rule = dead_relu(run, dataflow, event) if always else DEAD_RELU
            yield Suspect(event, rule, Match("likely", evidence), times)


def dead_relu(run: Run, dataflow: Dataflow, event: TensorEvent) -> Explanation:
    """Return what tells of a rectifier that was off whenever it was computed.

    Training may have led there before it was computed at all, as it is in an evaluation.  In a
    session of TensorFlow 1 that is the same computation.

    Args:
        run: The run.
        dataflow: Of the run.
        event: The result of the rectifier.
    """
    variables, first = dataflow.variables, dataflow.timeline.first_execution(event)
    if not variables.trained or first <= variables.first_update:
        return DEAD_FROM_THE_FIRST
    in_session = run.executions.kind(first).op_type.startswith(SESSION_RUN)
    return DEAD_FROM_THE_FIRST if in_session else DEAD_RELU


def _computations(dataflow: Dataflow, event: TensorEvent, found: Magnitudes) -> int:
    """Return how many computations of a tensor there are from the first of some to the last."""
    if event.kind == "execution":
        rows = dataflow.timeline.alike(event.index)
    else:
        rows = dataflow.timeline.rows_of(event.index)
    first, last = np.searchsorted(rows, found.rows[[0, -1]])
    return int(last - first) + 1


def _is_given(dataflow: Dataflow, suspect: Suspect) -> bool:
    """Whether a rectifier is given something: of what is tried out with zeros nothing comes."""
    largest = _largest_given(dataflow, suspect.event, suspect.times)
    return bool(largest.size and largest.all())


def _is_given_zeros(dataflow: Dataflow, event: TensorEvent, times: int) -> bool:
    """Whether a rectifier is known to be given zeros alone, as of batches that are blank."""
    largest = _largest_given(dataflow, event, times)
    return bool(largest.size and not largest.any())


def _largest_given(dataflow: Dataflow, event: TensorEvent, times: int) -> Floats:
    """Return the largest magnitudes of what a rectifier takes, the last times it was measured."""
    given = next((p.event for p in dataflow.producers(event)), None)
    return magnitudes_of(dataflow, given).largest[-times:] if given else np.zeros(0)


def _vanishing(run: Run, dataflow: Dataflow, gradients: list[_Gradient]) -> list[Suspect]:
    """Return the last gradient on the way back that is nothing beside the largest of its step."""
    gradients = [gradient for gradient in gradients if gradient.largest[-_MANY:].all()]
    if not gradients:
        return []
    recent = np.array([gradient.largest[-_MANY:] for gradient in gradients])
    share = recent / np.maximum(recent.max(axis=0), np.finfo(np.float64).tiny)
    first = np.array([gradient.largest[0] for gradient in gradients])
    grows = recent.min(axis=1) > _GROWN * np.where(first > 0, first, np.inf)
    small = (recent.max(axis=1) < _SMALL) & ~grows
    nothing = (share.max(axis=1) <= _VANISHED) & small
    if not nothing.any() and _stands(run, dataflow):
        nothing = (share.max(axis=1) <= _VANISHED_IN_VAIN) & small
    # A layer that is used in several places learns from what reaches one of them.
    of = [_of_layer(run, gradient) for gradient in gradients]
    learning = {key for key, gone in zip(of, nothing, strict=True) if key[0] and not gone}
    gone, elsewhere = [], set()
    for number in np.flatnonzero(nothing).tolist():
        if of[number] in learning:
            elsewhere.add(gradients[number].event)
        else:
            gone.append(number)
    arrived = {gradients[n].event for n in np.flatnonzero(share.max(axis=1) >= _ARRIVED).tolist()}
    if elsewhere:
        made_of = {n: _made_of(run, dataflow, [gradients[n].event]) for n in gone}
        gone = [n for n in gone if not _begins_small(made_of[n], elsewhere, arrived)]
    if gone:
        passed = _made_of(run, dataflow, arrived)
        gone = [n for n in gone if not _goes_on(dataflow, gradients[n].event, passed)]
    if gone:
        alive = [gradients[number].event for number in np.flatnonzero(~nothing).tolist()]
        sums = {added for event in alive for added in _sums_of(dataflow, event)}
        gone = [n for n in gone if not _is_summand(run, dataflow, gradients[n].event, sums)]
    if not gone:
        return []
    last = max(gone, key=lambda number: gradients[number].event.index)
    evidence = (
        f"{recent[last, -1]:.3g} at most, where the largest gradient of a layer is "
        f"{recent[:, -1].max():.3g}"
    )
    event, layer, _ = gradients[last]
    cancelled = _cancelled(run, dataflow, event)
    rule = OUTPUT_CANCELLED if cancelled else VANISHING_GRADIENT
    evidence += cancelled
    with_it = (gradients[number].layer for number in gone)
    others = dict.fromkeys((*with_it, *_handed_on_to(run, dataflow, event)))
    return [
        Suspect(
            event,
            rule,
            Match("likely", evidence),
            len(gone),
            others=tuple(one for one in others if one is not None and one != layer),
        )
    ]


def _cancelled(run: Run, dataflow: Dataflow, event: TensorEvent) -> str:
    """Say how gradients that a gradient is made of cancel one another in a sum; "" if none do.

    What a layer gives is broadcast in an addition, say, and its gradient summed up therefore.

    Args:
        run: The run.
        dataflow: Of the run.
        event: The gradient.
    """
    waiting = [event]
    for _ in range(_TO_SUM):
        made = dict.fromkeys(p.event for one in waiting for p in dataflow.producers(one))
        waiting = [one for one in made if one is not None and _is_of_gradients(run, one)]
        for added in (one for one in waiting if op_type_of(run, one) in _REDUCTIONS):
            after = magnitudes_of(dataflow, added).largest[-_MANY:]
            given = next((p.event for p in dataflow.producers(added)), None)
            largest = magnitudes_of(dataflow, given).largest[-_MANY:] if given else after
            if len(after) == len(largest) == _MANY and (after <= _CANCELLED * largest).all():
                return f"; of gradients up to {largest[-1]:.3g} their sum is {after[-1]:.3g}"
    return ""


def _made_of(run: Run, dataflow: Dataflow, events: Iterable[TensorEvent]) -> set[TensorEvent]:
    """Return all gradients that some are computed from, and sums of several gradients."""
    waiting = list(events)
    found: set[TensorEvent] = set()
    while waiting:
        made = (producer.event for producer in dataflow.producers(waiting.pop()))
        new = {one for one in made if one is not None and _is_of_gradients(run, one)} - found
        found |= new
        waiting += new
    return found


def _is_of_gradients(run: Run, event: TensorEvent) -> bool:
    """Whether a tensor is a gradient, or may be a sum of some, which is in no scope of these."""
    return is_backward(run, event) or op_type_of(run, event) == "AddN"


def _of_layer(run: Run, gradient: _Gradient) -> tuple[Layer | None, str | None, int]:
    """Return what the gradients of one kind of a layer have in common wherever it is used."""
    op_type = op_type_of(run, gradient.event)
    size = 0 if op_type in _OF_INPUTS else _size(run, gradient.event)
    return gradient.layer, op_type, size


def _begins_small(
    made_of: Set[TensorEvent], elsewhere: Set[TensorEvent], arrived: Set[TensorEvent]
) -> bool:
    """Whether a gradient has been small from the loss on, in layers that learn in other places.

    A detector looks for objects of each size in a map of its own, with the same layers.  A focal
    loss is next to nothing for a map in which there are none, as soon as the layers have learned
    that.

    Args:
        made_of: What the gradient is computed from.
        elsewhere: Gradients that vanish, of layers that learn from what they get elsewhere.
        arrived: Those of layers that learn.
    """
    return not made_of.isdisjoint(elsewhere) and made_of.isdisjoint(arrived)


def _goes_on(dataflow: Dataflow, event: TensorEvent, passed: Set[TensorEvent]) -> bool:
    """Whether a gradient is on the way to layers that learn, or is of weights of one that is.

    How large it is says little then: gradients of weights are as large as what the layer takes, and
    are summed up over a batch.

    Args:
        dataflow: Of the run.
        event: The gradient.
        passed: What the gradients of layers that learn are computed from.
    """
    if event in passed:
        return True
    given = {producer.event for producer in dataflow.producers(event)}
    return not given.isdisjoint(passed) and not variables_read(dataflow, event)


def _sums_of(dataflow: Dataflow, event: TensorEvent) -> Iterator[TensorEvent]:
    """Yield the sums that a gradient is added up in: variables used twice get one of two.

    It may be reshaped before, as by a layer that is given more than two dimensions.
    """
    waiting = [event]
    while waiting:
        for use in dataflow.consumers(waiting.pop()):
            if use.event is not None and use.op_type in ADDS:
                yield use.event
            elif use.event is not None and use.op_type in ARRANGES:
                waiting.append(use.event)


def _is_summand(run: Run, dataflow: Dataflow, event: TensorEvent, sums: Set[TensorEvent]) -> bool:
    """Whether all that comes of a gradient is added to others, as far as it is taken at all.

    Args:
        run: The run.
        dataflow: Of the run.
        event: The gradient.
        sums: Those of the gradients that do not vanish.
    """
    waiting, seen, is_added = [event], {event}, False
    while waiting and len(seen) < _FOLLOWED:
        for use in dataflow.consumers(waiting.pop()):
            made = use.event
            if made is None:
                if not _is_taken(use):
                    continue
                return False
            if made in sums:
                is_added = True
            elif use.op_type not in ADDS and not is_backward(run, made):
                return False
            elif made not in seen:
                seen.add(made)
                waiting.append(made)
    return is_added and not waiting


def _is_taken(use: Use) -> bool:
    """Whether an op that is not on record has run: numbers that it made would be there."""
    op_type = use.op_type or ""
    return op_type not in PASS_THROUGH and not only_makes_floats(op_type)


def _handed_on_to(run: Run, dataflow: Dataflow, event: TensorEvent) -> Iterator[Layer | None]:
    """Yield the layers that get a gradient next, on the way back: it is no larger there."""
    layers = LayersOfOps(run)
    mine, made = layers.of_event(event), [event]
    for _ in range(_TO_NEXT):
        uses = dict.fromkeys(use.event for one in made for use in dataflow.consumers(one))
        made = [use for use in uses if use is not None and is_backward(run, use)]
        reached = dict.fromkeys(layers.of_event(one) for one in made)
        if any(one not in (None, mine) for one in reached):
            yield from (one for one in reached if one != mine)
            return


def _fading(
    run: Run, dataflow: Dataflow, measured: list[tuple[TensorEvent, Magnitudes]]
) -> Iterator[Suspect]:
    """Yield a gradient of each loop that halves with each iteration, where nothing is learned.

    What is short-lived is learned all the same, and gradients of it may well fade in time.
    """
    loops: dict[str | None, list[_InTime]] = defaultdict(list)
    for event, found in measured:
        if op_type_of(run, event) in _OF_CELLS and is_backward(run, event):
            in_time = _in_time(dataflow, event, found)
            if in_time is not None:
                loops[graph_id_of(run, event)].append(in_time)
    for some in loops.values():
        if any(one.last > one.first * 0.5**one.iterations for one in some):
            continue
        if _learns(run, dataflow):
            return
        one = max(some, key=lambda one: one.last)
        evidence = (
            f"{one.first:.3g} at most at the last step of time, {one.last:.3g} at the one that is "
            f"{one.iterations:,} before it, as in most steps measured; and the loss is what it was"
        )
        yield Suspect(one.event, VANISHING_GRADIENT, Match("likely", evidence), len(some))


class _InTime(NamedTuple):
    """A gradient in a loop: what it is in the first iteration, and in the last one measured."""

    event: TensorEvent
    first: float
    last: float
    iterations: int


def _in_time(dataflow: Dataflow, event: TensorEvent, found: Magnitudes) -> _InTime | None:
    """Return how a gradient fades in a loop, in the median of runs; None where it is in none."""
    executions, counts = np.unique(found.executions, return_counts=True)
    if event.kind == "execution" or len(executions) < _MANY or counts.min() < _ITERATIONS:
        return None
    number = len(executions)
    # Some of the later half: where all steps are on record, the last ones are near one another.
    some = np.linspace(min(number // 2, number - _MANY), number - 1, _MANY).astype(int)
    fading = []
    for execution in executions[some]:
        mine = found.some(found.executions == execution)
        ends = dataflow.timeline.at(int(mine.rows[0])), dataflow.timeline.at(int(mine.rows[-1]))
        first, last = (at.iteration for at in ends)
        if first != 0 or last is None or last < _LONG:
            return None
        fading.append(_InTime(event, float(mine.largest[0]), float(mine.largest[-1]), last))
    fading.sort(key=lambda one: one.last / one.first if one.first else np.inf)
    return fading[len(fading) // 2]


def _stands(run: Run, dataflow: Dataflow) -> bool:
    """Whether losses are on record, and none has become smaller."""
    return any(True for _ in losses(dataflow)) and not _learns(run, dataflow)


def _learns(run: Run, dataflow: Dataflow) -> bool:
    """Whether a loss has become smaller, or none was measured often enough to tell."""
    for loss in losses(dataflow):
        _, largest = by_step(run, magnitudes_of_loss(dataflow, loss))
        third = len(largest) // 3
        if len(largest) < _MANY or np.median(largest[-third:]) < _SAME * np.median(largest[:third]):
            return True
    return False


def _underflowing(run: Run, gradients: list[_Gradient]) -> Iterator[Suspect]:
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


def _unreached(gradients: list[_Gradient]) -> Iterator[Suspect]:
    """Yield the first gradient of each layer whose gradients are 0 from the beginning on."""
    by_layer: dict[Layer, list[_Gradient]] = defaultdict(list)
    for gradient in gradients:
        if gradient.layer is not None:
            by_layer[gradient.layer].append(gradient)
    for layer, some in by_layer.items():
        if any(gradient.largest.any() for gradient in some):
            continue
        steps = len(some[0].largest)
        evidence = f"layer {layer.path}: its gradients are 0 in all {steps:,} steps measured"
        yield Suspect(some[0].event, LAYER_NEVER_CHANGES, Match("likely", evidence), steps)


def _cut_off(
    run: Run,
    dataflow: Dataflow,
    measured: list[tuple[TensorEvent, Magnitudes]],
    gradients: list[_Gradient],
) -> Iterator[Suspect]:
    """Yield what lets no gradient through, where all gradients of layers are 0 in all steps.

    A rectifier is off then even if it has few elements.  A loss of 0 has nothing more to teach.

    Args:
        run: The run.
        dataflow: Of the run.
        measured: Its tensors that were measured often enough.
        gradients: Those of its layers.
    """
    of_losses = [magnitudes_of_loss(dataflow, loss).largest for loss in losses(dataflow)]
    measured_losses = [largest for largest in of_losses if largest.size]
    is_learned = bool(measured_losses) and not any(largest.all() for largest in measured_losses)
    if is_learned or all(gradient.layer is None for gradient in gradients):
        return
    steps = len(gradients[0].largest)
    evidence = f"all {len(gradients):,} gradients of layers are 0 in all {steps:,} steps measured"
    off = [
        event
        for event, found in measured
        if op_type_of(run, event) in RECTIFIERS and not found.largest.any()
    ]
    if off:
        last = max(off, key=lambda event: event.index)
        text = f"all {_size(run, last):,} outputs are 0, and {evidence}"
        yield Suspect(last, dead_relu(run, dataflow, last), Match("likely", text), steps)
        return
    first = min((gradient.event for gradient in gradients), key=lambda event: event.index)
    lost = _lost_at(run, dataflow, first)
    yield Suspect(lost, NO_GRADIENT, Match("likely", evidence), steps)


def _lost_at(run: Run, dataflow: Dataflow, event: TensorEvent) -> TensorEvent:
    """Return the first of the gradients of 0 that one is made of."""
    for _ in range(_FOLLOWED):
        made = (producer.event for producer in dataflow.producers(event))
        given = [one for one in made if one is not None and is_backward(run, one)]
        found = [(one, magnitudes_of(dataflow, one).largest) for one in given]
        before = next((one for one, largest in found if largest.size and not largest.any()), None)
        if before is None:
            return event
        event = before
    return event


def _gradients_of_layers(
    run: Run, measured: list[tuple[TensorEvent, Magnitudes]]
) -> list[_Gradient]:
    """Return the gradients of layers by step, of those that are measured in the same steps."""
    layers = LayersOfOps(run)
    found: dict[tuple[int, ...], list[_Gradient]] = defaultdict(list)
    for event, magnitudes in measured:
        if op_type_of(run, event) not in _OF_LAYERS or not is_backward(run, event):
            continue
        layer = layers.of_event(event)
        if event.kind == "execution" and layer is None:
            continue  # many layers in one
        steps, largest = by_step(run, magnitudes)
        if len(steps) >= _MANY:
            found[tuple(steps.tolist())].append(_Gradient(event, layer, largest))
    return max(found.values(), key=len, default=[])


def _size(run: Run, event: TensorEvent) -> int:
    summary = summary_of(run, event)
    return (summary.size or 0) if summary is not None else 0
