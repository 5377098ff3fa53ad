"""At which line a finding is told: that of its op, or of what the op goes back to."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import stack_id_of
from tfdbg_tui.diagnosis.layers import output_of
from tfdbg_tui.diagnosis.learning_rates import learning_rates
from tfdbg_tui.diagnosis.locations import location_of, starts_fit

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.learning_rates import LearningRate
    from tfdbg_tui.diagnosis.locations import Location
    from tfdbg_tui.diagnosis.report.chain_links import Links
    from tfdbg_tui.diagnosis.report.findings import Finding
    from tfdbg_tui.diagnosis.report.first_large import FirstLarge
    from tfdbg_tui.diagnosis.report.program_lines import ProgramLines
    from tfdbg_tui.diagnosis.roots import Root


class FindingLines:
    """Moves findings to other lines of the program; each then says where its op is.

    Args:
        dataflow: Of the run.
        lines: Which lines of the program ran.
        links: How bad values got from tensor to tensor.
    """

    def __init__(self, dataflow: Dataflow, lines: ProgramLines, links: Links) -> None:
        self._dataflow = dataflow
        self._run = dataflow.run
        self._lines = lines
        self._links = links

    def in_users_loss(self, found: Finding, root: Root) -> Finding:
        """Return a finding on what `fit` makes of the user's own loss at the line of that."""
        loss = self._lines.made_of(root.event)
        line = self._lines.ran(loss) if loss is not None else None
        if loss is None or line is None:
            return found
        return at_line(found, line, stack_id_of(self._run, loss), "what Keras makes of it is at")

    def at_loss(self, found: Finding, loss: TensorEvent) -> Finding:
        """Return a finding on what a loss has led to at the line of that, unless `fit` made it."""
        made = self._lines.made_of(loss) or loss
        stack_id = stack_id_of(self._run, made)
        line = self._lines.ran(made)
        if line is None or starts_fit(self._run, stack_id):
            return found
        return at_line(found, line, stack_id, "it overflows at")

    def led_back(self, found: Finding, large: FirstLarge) -> Finding:
        """Return a finding on what overflowed that leads back to what was large first."""
        run, event = self._run, large.event
        forward = self._lines.differentiated(event)
        stack_id = forward.stack_id if forward else stack_id_of(run, event)
        line = location_of(run, stack_id) if forward else self._lines.ran(event)
        if line is None:
            return found
        overflowed_at = f"; it overflows at {found.location.short}" if found.location else ""
        return replace(
            found,
            evidence=f"{found.evidence}; {large.at(line)}{overflowed_at}",
            location=line,
            differentiated_at=None,
            forward_stack_id=stack_id,
            chain=(self._links.link(event, True, "earlier"), *found.chain),
        )

    def at_layer(self, found: Finding) -> Finding:
        """Return a finding at the line of its layer, where its own only starts the training."""
        layer, stack_id = found.layer or found.input_layer, found.forward_stack_id
        own_stack_id = stack_id_of(self._run, found.event) if stack_id is None else stack_id
        if layer is None or found.location is None or not starts_fit(self._run, own_stack_id):
            return found
        made = output_of(self._run, layer)
        line = self._lines.ran(made) if made is not None else None
        if made is None or line is None:
            return found
        return at_line(found, line, stack_id_of(self._run, made), "trained at")

    def with_rates(self, found: Finding) -> Finding:
        """Return a finding with the learning rates."""
        rates = " and ".join(map(str, self._rates))
        said = f"; the learning rate{'s are' if len(self._rates) > 1 else ' is'} {rates}"
        return replace(found, evidence=f"{found.evidence}{said}") if rates else found

    def at_rate(self, found: Finding) -> Finding:
        """Return a finding with the learning rate, at the line that made the only optimizer."""
        told = self.with_rates(found)
        rate = self._rates[0] if len(self._rates) == 1 else None
        if rate is None or rate.line is None:
            return told
        return at_line(told, rate.line, rate.stack_id, "trained at")

    @cached_property
    def _rates(self) -> list[LearningRate]:
        return learning_rates(self._dataflow)


def at_line(found: Finding, line: Location, stack_id: int | None, said: str) -> Finding:
    """Return a finding at another line, which says where its own is.

    Args:
        found: The finding.
        line: The other line.
        stack_id: The stack that leads to it; None for that of the op.
        said: What its own line does.
    """
    if found.location is None or line == found.location:
        return found
    return replace(
        found,
        evidence=f"{found.evidence}; {said} {found.location.short}",
        location=line,
        differentiated_at=None,
        forward_stack_id=stack_id,
    )
