"""Chains: from the root of a bad tensor, or the inputs of a healthy one, to the tensor itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.diagnosis.roots import Health

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.dataflow import Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.report.chain_links import Link
    from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
    from tfdbg_tui.diagnosis.report.findings import Finding

GroupKind = Literal["root", "suspect", "benign"]
"""What became of a finding: NaN or ∞ that matter; none so far; none that matter."""

_LOOKED_AT = 400  # tensors, to find the chain from a root
_INPUTS = 3  # shown of a root at most
_LONGEST = 24  # tensors shown of the chain of a healthy one


@dataclass(frozen=True, slots=True)
class Chain:
    """How a tensor came about.

    Attributes:
        links: Its tensors: inputs of the root first, and the tensor itself last; of a root what
            became of it after it.
        kind: What became of the finding, where there is one.
        start: Which of them is the root; of a healthy chain, the tensor itself.
        finding: What was found to be its root; None where nothing bad leads to the tensor.
    """

    links: tuple[Link, ...]
    start: int
    finding: Finding | None
    kind: GroupKind = "root"

    def continued(self) -> Chain:
        """Return the chain to a root with what became of it: as far as to where that shows."""
        after = self.finding.chain if self.finding else ()
        position = _position(after, self.links[self.start].event)
        return self if position is None else replace(self, links=self.links + after[position + 1 :])

    def chosen(self, event: TensorEvent | None) -> int:
        """Return where a tensor is on the chain; where it is not on it, where the root is."""
        found = None if event is None else _position(self.links, event)
        return self.start if found is None else found


def chain_to(
    diagnosis: Diagnosis,
    event: TensorEvent,
    finding: Finding | None = None,
    kind: GroupKind = "root",
) -> Chain:
    """Return the chain to a tensor.

    Args:
        diagnosis: What is known of the run.
        event: The tensor.
        finding: What it goes back to; None where nothing bad leads to it.
        kind: What became of it.
    """
    if finding is None:
        healthy = _healthy(diagnosis, event)
        return Chain(healthy, len(healthy) - 1, None)
    links = diagnosis.links.to(event)
    root = _position(links, finding.event)
    if root is None:
        before = diagnosis.links.to(finding.event)
        links = (*before, *_after(diagnosis, finding.event, links))
        root = len(before) - 1
    if root == 0:
        inputs = _inputs(diagnosis, links[0].event)
        links, root = (*inputs, *links), len(inputs)
    return Chain(links, root, finding, kind)


def _position(links: Sequence[Link], event: TensorEvent) -> int | None:
    return next((i for i, link in enumerate(links) if link.event == event), None)


def _after(diagnosis: Diagnosis, root: TensorEvent, links: Sequence[Link]) -> list[Link]:
    """Return the tensors from a root to where some links end, the root left out.

    Where no recorded value leads from one to the other, the two are known to have the same root
    only by inference: the links begin anew with the first bad one.
    """
    path = _path(diagnosis, root, links[-1].event)
    if path:
        return path
    start = next((i for i, link in enumerate(links) if link.is_bad), len(links) - 1)
    return [diagnosis.links.link(links[start].event, True, "earlier"), *links[start + 1 :]]


def _path(diagnosis: Diagnosis, root: TensorEvent, event: TensorEvent) -> list[Link]:
    """Return the shortest path of bad values from a root to a tensor; [] for none."""
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
        links.append(diagnosis.links.link(step[0], step[1].inferred, step[1].via))
        step = after[step[0]]
    return links


def _inputs(diagnosis: Diagnosis, event: TensorEvent) -> list[Link]:
    """Return what went into a tensor, whatever it holds: an ∞ that is meant, for example."""
    given: dict[TensorEvent, Producer] = {}
    for producer in diagnosis.dataflow.producers(event):
        has_values = diagnosis.causes.health(event, producer) is not Health.NO_VALUES
        if producer.event is not None and producer.event != event and has_values:
            given.setdefault(producer.event, producer)
    return [diagnosis.links.taken(*one) for one in list(given.items())[:_INPUTS]]


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
            links.append(diagnosis.links.link(event, False, ""))
            return tuple(reversed(links))
        links.append(diagnosis.links.link(event, given[0].inferred, given[0].via))
        assert given[0].event is not None
        event = given[0].event
        seen.add(event)
