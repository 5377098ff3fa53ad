"""Cross entropies that have no least value: of targets that are none, or without their minus."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import op_type_of, size_of, stack_id_of, summary_of
from tfdbg_tui.diagnosis.history import by_step, magnitudes_of, sample_of
from tfdbg_tui.diagnosis.locations import line_that_ran
from tfdbg_tui.diagnosis.losses import AVERAGES, behind, losses, made_of, magnitudes_of_loss
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, ARRANGES
from tfdbg_tui.diagnosis.rules.model import Match
from tfdbg_tui.diagnosis.rules.silent.defects import MINUS_MISSING, TARGETS_OF_NO_PROBABILITY
from tfdbg_tui.diagnosis.rules.silent.suspect import Suspect
from tfdbg_tui.diagnosis.untrained import connected_of
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.magnitudes import Magnitudes

_MANY = 5  # measured computations that have to show it: those of eight steps or more
_SAMPLE = 8  # of them whose records are read
_LEAST, _LARGEST = -0.5, 1.5  # targets of a GAN may have noise that carries them beyond 0 and 1
_FALLS = 2.0  # times as far below 0 as at first
_MEANS = AVERAGES - {"Mul"}
_LOGARITHMS = frozenset({"Log", "LogSoftmax"})
_SUMS = frozenset({"Mean", "Sum"})
_SELECTS = frozenset({"Select", "SelectV2"})


def find_no_probabilities(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the binary cross entropies that have taken a loss below 0, with their targets.

    Of targets outside of 0 to 1 a mask may leave out some: then the sum of the others stays above
    0, whatever else the loss is made of.

    Args:
        dataflow: Of the run.
    """
    run = dataflow.run
    for loss in losses(dataflow):
        found = magnitudes_of_loss(dataflow, loss)
        if len(found) < _MANY:
            continue
        users = made_of(dataflow, loss)
        for made in users:
            targets = _targets(dataflow, made) if op_type_of(run, made) == "AddV2" else None
            sums = _summed(dataflow, users, made) if targets is not None else None
            values = _least(dataflow, sums) if sums is not None else []
            if targets is None or not values or values[-1] >= 0:
                continue
            ends = _extremes(dataflow, targets, magnitudes_of(dataflow, targets))
            least = min((low for low, _ in ends), default=0.0)
            largest = max((high for _, high in ends), default=0.0)
            if least <= _LEAST or largest >= _LARGEST:
                steps, _ = by_step(run, found)
                evidence = (
                    f"targets of {least:.3g} to {largest:.3g}; the loss was {values[0]:.3g} "
                    f"in step {steps[0]:,}, and is {values[-1]:.3g} in step {steps[-1]:,}"
                )
                match, stack_id = Match("proved", evidence), stack_id_of(run, made)
                line = line_that_ran(run, stack_id)
                yield Suspect(made, TARGETS_OF_NO_PROBABILITY, match, len(found), line=line)


def _summed(
    dataflow: Dataflow, users: Mapping[TensorEvent, set[TensorEvent]], event: TensorEvent
) -> TensorEvent | None:
    """Return the sum or the mean of all elements of a tensor, as a loss has it.

    Args:
        dataflow: Of the run.
        users: What the loss is made of, and for what it is used there.
        event: The tensor.
    """
    following = Worklist([event])
    for made in following:
        op_type = op_type_of(dataflow.run, made) or ""
        if op_type in _SUMS and size_of(dataflow.run, made) == 1:
            return made
        if made == event or op_type in _MEANS | {"Mul"}:
            following.add(*users[made])
    return None


def _least(dataflow: Dataflow, event: TensorEvent) -> list[float]:
    found = magnitudes_of(dataflow, event)
    return [least for least, _ in _extremes(dataflow, event, found)]


def find_minus_missing(dataflow: Dataflow) -> Iterator[Suspect]:
    """Yield the losses below 0 that are means of targets times logarithms of probabilities.

    Logarithms of at most 0 and targets of 0 to 1, as they are on record: the advantages of a
    policy, or what its actions cost, are no such targets.  To unlearn something, or to attack a
    model, takes another loss besides, variables of no layer, or a model that stays as it is.

    Args:
        dataflow: Of the run.
    """
    run = dataflow.run
    trained = [*losses(dataflow)]
    if len(trained) != 1 or not _trains_layers(run):
        return
    (loss,) = trained
    found = magnitudes_of_loss(dataflow, loss)
    values = [least for least, _ in _extremes(dataflow, loss, found)]
    if len(found) < _MANY or not values:
        return
    if max(values) >= 0 or values[-1] > _FALLS * values[0]:
        return
    product = behind(dataflow, loss, _MEANS)
    if product is not None and _is_likelihood(dataflow, product):
        steps, _ = by_step(run, found)
        evidence = (
            f"targets times logarithms that are at most 0; the loss was {values[0]:.3g} in "
            f"step {steps[0]:,}, and is {values[-1]:.3g} in step {steps[-1]:,}"
        )
        yield Suspect(product, MINUS_MISSING, Match("likely", evidence), len(found))


def _trains_layers(run: Run) -> bool:
    """Whether all variables that a loss is made of are of layers, and trained by it."""
    of_layers = {variable.key for variable in run.variables if variable.layer}
    trained = {key for request in run.gradient_requests for key in connected_of(request)}
    left_out = any(request.left_out for request in run.gradient_requests)
    return bool(trained) and trained <= of_layers and not left_out


def _is_likelihood(dataflow: Dataflow, product: TensorEvent) -> bool:
    """Whether a tensor is of numbers of 0 to 1 times logarithms of at most 0."""
    factors = dataflow.producers(product) if op_type_of(dataflow.run, product) == "Mul" else ()
    logarithm = next((one.event for one in factors if one.op_type in _LOGARITHMS), None)
    targets = next((one.event for one in factors if one.op_type not in _LOGARITHMS), None)
    if logarithm is None or targets is None or not _is_data(dataflow, targets):
        return False
    tops = [high for _, high in _extremes(dataflow, logarithm, magnitudes_of(dataflow, logarithm))]
    ends = _extremes(dataflow, targets, magnitudes_of(dataflow, targets))
    if not tops or not ends or max(tops) > 0:
        return False
    # Without a 0 among them they are weights rather than classes.
    return min(low for low, _ in ends) == 0 and max(high for _, high in ends) <= 1


def _is_data(dataflow: Dataflow, event: TensorEvent) -> bool:
    """Whether a tensor came in as it is: probabilities that the model gives may be meant."""
    source = behind(dataflow, event, ARRANGES)
    return source is not None and op_type_of(dataflow.run, source) in ARGUMENTS


def _extremes(
    dataflow: Dataflow, event: TensorEvent, found: Magnitudes
) -> list[tuple[float, float]]:
    """Return the least and the largest element in some computations of a tensor, in order.

    Args:
        dataflow: Of the run.
        event: One of them.
        found: Those that were measured.
    """
    rows = sample_of(found.rows, _SAMPLE).tolist()
    summaries = [summary_of(dataflow.run, replace(event, index=row)) for row in rows]
    return [
        (one.minimum, one.maximum)
        for one in summaries
        if one is not None and one.minimum is not None and one.maximum is not None
    ]


def _targets(dataflow: Dataflow, event: TensorEvent) -> TensorEvent | None:
    """Return the targets, if a sum is a binary cross entropy, of logits or of probabilities.

    ``relu(x) - x * z + log1p(exp(-|x|))``, as `tf.nn.sigmoid_cross_entropy_with_logits` has it, or
    ``z * log(p) + (1 - z) * log(1 - p)``.

    Args:
        dataflow: Of the run.
        event: The sum.
    """
    terms = dataflow.producers(event)
    types = [term.op_type for term in terms]
    if types == ["Sub", "Log1p"]:
        return _targets_of_logits(dataflow, terms[0].event)
    if types == ["Mul", "Mul"]:
        return _targets_of_probabilities(dataflow, [term.event for term in terms])
    return None


def _targets_of_logits(dataflow: Dataflow, difference: TensorEvent | None) -> TensorEvent | None:
    """Return the ``z`` of ``relu(x) - x * z``."""
    terms = dataflow.producers(difference) if difference is not None else ()
    if len(terms) != 2 or terms[0].op_type not in _SELECTS or terms[1].op_type != "Mul":
        return None
    factors = dataflow.producers(terms[1].event) if terms[1].event is not None else ()
    return factors[1].event if len(factors) == 2 else None


def _targets_of_probabilities(
    dataflow: Dataflow, products: Sequence[TensorEvent | None]
) -> TensorEvent | None:
    """Return the ``z`` of products of ``z`` and ``1 - z`` with logarithms."""
    others = []
    for product in products:
        factors = dataflow.producers(product) if product is not None else ()
        some = [factor for factor in factors if factor.op_type != "Log"]
        if len(factors) != 2 or len(some) != 1:
            return None
        others += some
    targets = next((factor.event for factor in others if factor.op_type != "Sub"), None)
    rest = next((factor.event for factor in others if factor.op_type == "Sub"), None)
    taken = [one.event for one in dataflow.producers(rest)] if rest is not None else []
    if targets is None or taken[1:] != [targets]:
        return None
    # The number of trials stands in its place in a binomial likelihood.
    of_all = _extremes(dataflow, taken[0], magnitudes_of(dataflow, taken[0])) if taken[0] else []
    return targets if all(ends == (1.0, 1.0) for ends in of_all) else None
