"""At which line a finding is told: that of its op, or of what the op goes back to."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import stack_id_of
from tfdbg_tui.diagnosis.layers import output_of
from tfdbg_tui.diagnosis.learning_rates import learning_rates
from tfdbg_tui.diagnosis.locations import location_of, starts_fit
from tfdbg_tui.diagnosis.losses import scaled_at
from tfdbg_tui.diagnosis.untrained import connected_of
from tfdbg_tui.diagnosis.updates import changed_at

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

    def at_rate(self, found: Finding, said: str) -> Finding:
        """Return a finding with the learning rate, at the line that made the only optimizer.

        Without an optimizer that is known, at the only line that changes what is trained.

        Args:
            found: The finding.
            said: What its own line does.
        """
        told = self.with_rates(found)
        if self._rates:
            lines = [(rate.line, rate.stack_id) for rate in self._rates]
        else:
            lines = [*self._changes.items()]
        line, stack_id = lines[0] if len(lines) == 1 else (None, None)
        return at_line(told, line, stack_id, said) if line is not None else told

    def at_scale(self, found: Finding) -> Finding:
        """Return a finding on steps that a loss scale has spoiled at the line of that.

        Where Keras makes it, that may be the one that calls `fit`.
        """
        stacks = sorted(scaled_at(self._dataflow), key=lambda one: starts_fit(self._run, one))
        lines = ((location_of(self._run, stack_id), stack_id) for stack_id in stacks)
        line, stack_id = next((one for one in lines if one[0] is not None), (None, None))
        return at_line(found, line, stack_id, "it overflows at") if line is not None else found

    @cached_property
    def _changes(self) -> dict[Location, int | None]:
        """The lines that change the variables that tapes are asked for, with their stacks."""
        asked = {key for request in self._run.gradient_requests for key in connected_of(request)}
        stacks = (changed_at(self._dataflow, v) for v in self._run.variables if v.key in asked)
        lines = {location_of(self._run, one): one for one in stacks}
        return {
            line: stack_id
            for line, stack_id in lines.items()
            if line is not None and not starts_fit(self._run, stack_id)
        }

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
