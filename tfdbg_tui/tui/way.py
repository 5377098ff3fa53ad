"""The way of a tensor from what made it, as the Why pane lists it.

Ops that only pass values on are folded into one row, however many follow each other.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH
from tfdbg_tui.diagnosis.roots import Health
from tfdbg_tui.tui.session.folding import FoldedRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from tfdbg_tui.diagnosis.dataflow import Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.report.chains import Link
    from tfdbg_tui.diagnosis.report.findings import Diagnosis, Finding
    from tfdbg_tui.logdir import Run

GroupKind = Literal["root", "suspect", "benign"]
"""What became of a cause: trouble; trouble so far without NaN or ∞; nothing that matters."""

_LOOKED_AT = 400  # tensors, to find the way from a root
_INPUTS = 3  # shown of a root at most
_LONGEST = 24  # tensors shown of the way of a healthy one
_COPIES = PASS_THROUGH | {"Placeholder", "ReadVariableOp", "Reshape", "Transpose", "ExpandDims"}


@dataclass(frozen=True, slots=True)
class Way:
    """How a tensor came about.

    Attributes:
        links: Its tensors: what went into the first one that counts, and the tensor itself last.
        kind: What became of the trouble; None where there is none.
        start: Which of them is the root; of a healthy way, the tensor itself.
        finding: The cause of the trouble; None where nothing bad leads to the tensor.
    """

    links: tuple[Link, ...]
    start: int
    finding: Finding | None
    kind: GroupKind | None = None

    @property
    def event(self) -> TensorEvent:
        """The tensor that was asked about."""
        return self.links[-1].event

    def chosen(self, event: TensorEvent | None) -> int:
        """Return where a tensor is on the way; where it is not on it, where the root is."""
        found = None if event is None else _position(self.links, event)
        return self.start if found is None else found


def way_to(
    run: Run,
    diagnosis: Diagnosis,
    event: TensorEvent,
    finding: Finding | None = None,
    kind: GroupKind | None = None,
) -> Way:
    """Return the way to a tensor.

    Args:
        run: The run.
        diagnosis: What is known of it.
        event: The tensor.
        finding: The cause that its trouble goes back to; None where it has no trouble.
        kind: What became of that trouble.
    """
    if finding is None:
        healthy = _healthy(diagnosis, event)
        return Way(healthy, len(healthy) - 1, None)
    links = diagnosis.chains.to(event)
    root = _position(links, finding.event)
    if root is None:
        before = diagnosis.chains.to(finding.event)
        links = (*before, *_after(diagnosis, finding.event, links))
        root = len(before) - 1
    if root == 0:
        inputs = _inputs(diagnosis, links[0].event)
        links, root = (*inputs, *links), len(inputs)
    inputs = list(_as_taken(run, diagnosis, links[:root], links[root].event))
    return Way((*inputs, *links[root:]), root, finding, kind)


def rows(way: Way, unfolded: Collection[TensorEvent]) -> list[FoldedRow]:
    """Return the rows of a way.

    Args:
        way: The way.
        unfolded: The first tensors of the folds that are opened.
    """
    found: list[FoldedRow] = []
    run: list[int] = []
    for position, link in enumerate(way.links):
        first = way.start if way.finding else 0
        inside = first < position < len(way.links) - 1
        if inside and link.passes_on:
            run.append(position)
            continue
        found += _fold(way.links, run, unfolded)
        run = []
        found.append(FoldedRow(position, position))
    return found


def fold_name(links: Sequence[Link], row: FoldedRow) -> str:
    """Return what a folded row says: ``3 copies``, ``12 pass-through ops``."""
    inside = links[row.first : row.last + 1]
    copies = all(link.op_type in _COPIES for link in inside)
    return f"{row.folded} {'copies' if copies else 'pass-through ops'}"


def is_bad(link: Link) -> bool:
    """Whether a tensor holds a NaN or an infinity, as far as is recorded."""
    return bool(link.summary is not None and link.summary.has_inf_or_nan)


def _fold(
    links: Sequence[Link], run: Sequence[int], unfolded: Collection[TensorEvent]
) -> list[FoldedRow]:
    if len(run) > 1 and links[run[0]].event not in unfolded:
        return [FoldedRow(run[0], run[-1])]
    return [FoldedRow(position, position) for position in run]


def _position(links: Sequence[Link], event: TensorEvent) -> int | None:
    return next((i for i, link in enumerate(links) if link.event == event), None)


def _after(diagnosis: Diagnosis, root: TensorEvent, links: Sequence[Link]) -> list[Link]:
    """Return the tensors from a root to where some links end, the root left out.

    Where no recorded value leads from one to the other, the two are known to be the same trouble
    only by inference: the links begin anew with the first bad one.
    """
    path = _path(diagnosis, root, links[-1].event)
    if path:
        return path
    start = next((i for i, link in enumerate(links) if is_bad(link)), len(links) - 1)
    return [diagnosis.chains.link(links[start].event, True, "earlier"), *links[start + 1 :]]


def _path(diagnosis: Diagnosis, root: TensorEvent, event: TensorEvent) -> list[Link]:
    """Return the shortest way of bad values from a root to a tensor; [] where there is none."""
    after: dict[TensorEvent, tuple[TensorEvent, Producer] | None] = {event: None}
    queue = deque([event])
    while queue and root not in after and len(after) < _LOOKED_AT:
        found = queue.popleft()
        for producer in diagnosis.dataflow.producers(found):
            source = producer.event
            if source is None or source in after:
                continue
            if diagnosis.causes.health(found, producer) is Health.BAD:
                after[source] = found, producer
                queue.append(source)
    links: list[Link] = []
    step = after.get(root)
    while step is not None:
        links.append(diagnosis.chains.link(step[0], step[1].inferred, step[1].via))
        step = after[step[0]]
    return links


def _inputs(diagnosis: Diagnosis, event: TensorEvent) -> list[Link]:
    """Return what went into a tensor, whatever it holds: an ∞ that is meant, for example."""
    given = [
        producer
        for producer in diagnosis.dataflow.producers(event)
        if producer.event is not None
        and producer.event != event
        and diagnosis.causes.health(event, producer) is not Health.NO_VALUES
    ]
    return [
        diagnosis.chains.link(producer.event, False, "")
        for producer in given[:_INPUTS]
        if producer.event is not None
    ]


def _as_taken(
    run: Run, diagnosis: Diagnosis, inputs: Sequence[Link], root: TensorEvent
) -> Iterator[Link]:
    """Yield the inputs of a root with what the dump says of them as it took them.

    An execution in adaptive mode says more of its inputs than their own records do.
    """
    taken = run.executions[root.index].inputs if root.kind == "execution" else ()
    slots = {
        diagnosis.dataflow.origin(producer.event): producer.input_slot
        for producer in diagnosis.dataflow.producers(root)
        if taken and producer.event is not None
    }
    for link in inputs:
        slot = slots.get(link.event)
        summary = taken[slot] if slot is not None and slot < len(taken) else None
        yield link if summary is None else replace(link, summary=summary)


def _healthy(diagnosis: Diagnosis, event: TensorEvent) -> tuple[Link, ...]:
    """Return the tensor and what it was computed from, by its first recorded input each time."""
    links: list[Link] = []
    seen = {event}
    while True:
        given = [
            producer
            for producer in diagnosis.dataflow.producers(event)
            if producer.event is not None
            and producer.event not in seen
            and diagnosis.causes.health(event, producer) is not Health.NO_VALUES
        ]
        if not given or len(links) == _LONGEST:
            links.append(diagnosis.chains.link(event, False, ""))
            return tuple(reversed(links))
        links.append(diagnosis.chains.link(event, given[0].inferred, given[0].via))
        assert given[0].event is not None
        event = given[0].event
        seen.add(event)
