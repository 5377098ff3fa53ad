"""What is told of a root besides what its rule has found: other lines, other tensors, selects."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.unrecorded import UnrecordedLinks
from tfdbg_tui.diagnosis.dataflow.variables import assigns
from tfdbg_tui.diagnosis.events import TensorEvent, graph_id_of, name_of, op_type_of, stack_id_of
from tfdbg_tui.diagnosis.function_names import readable_function
from tfdbg_tui.diagnosis.gradients import is_backward, is_kept_by_library, is_not_given
from tfdbg_tui.diagnosis.locations import file_name, frames_of_user, location_of
from tfdbg_tui.diagnosis.losses import losses
from tfdbg_tui.diagnosis.op_traits import ARGUMENTS, SELECTS_ELEMENTS
from tfdbg_tui.diagnosis.report.lost_constants import lost_constant
from tfdbg_tui.diagnosis.roots.alert_sites import place_of
from tfdbg_tui.diagnosis.rules.conditions import amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.report.findings import Finding
    from tfdbg_tui.diagnosis.report.program_lines import ProgramLines
    from tfdbg_tui.diagnosis.roots import Causes, Root
    from tfdbg_tui.logdir import StackFrame

_MEMBERS = 32  # bad tensors of a root that are looked at
_MOST_MEMBERS = 5_000  # more of them are not looked at
_LINES = 8  # lines beside the first that are named
_SELECTED_AFTER = 4  # ops that take a bad tensor one after the other before a select does
_HIDDEN = "a select leaves out its value, but not its slope"


class RootEvidence:
    """Says what goes along with a root.

    Args:
        dataflow: Where tensors come from and go to.
        causes: The roots of its alerts.
        lines: The lines that its tensors come from.
    """

    def __init__(self, dataflow: Dataflow, causes: Causes, lines: ProgramLines) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._causes = causes
        self._lines = lines

    def of(
        self,
        root: Root,
        found: Finding,
        alike: Sequence[TensorEvent],
        changes: Sequence[str],
    ) -> str:
        """Return what goes along with a root, to be told behind the evidence for its cause.

        Args:
            root: The root.
            found: The finding on it.
            alike: What the same bug has made bad.
            changes: The changes of other expressions of its line.
        """
        return (
            _beside(root)
            + lost_constant(self._dataflow, self._causes.summary, root.event)
            + self._called_at(root)
            + self._hidden(root)
            + _bad_as_well([change.partition(" → ")[0] for change in changes])
            + self._other_lines(root, found, alike)
            + self._other_arguments(root, alike)
            + self._given_later(root)
            + self._beside_training(root)
            + self._stays(root)
        )

    def _called_at(self, root: Root) -> str:
        """Say where the function of a line was called, where the line has other roots as well."""
        frames = self._frames_of_user(root)
        if root.contained or len(frames) < 2 or len(self._callers[frames[-1]]) < 2:
            return ""
        return f"; called at {file_name(frames[-2].path or '')}:{frames[-2].line}"

    @cached_property
    def _callers(self) -> dict[StackFrame, set[StackFrame]]:
        """The frames that called the lines of roots, by the frames of these lines."""
        found: dict[StackFrame, set[StackFrame]] = defaultdict(set)
        for root in self._causes.roots:
            frames = self._frames_of_user(root)
            if not root.contained and frames:
                found[frames[-1]].update(frames[-2:-1])
        return found

    def _frames_of_user(self, root: Root) -> list[StackFrame]:
        stack_id = stack_id_of(self._run, root.event)
        return frames_of_user(self._run.stack(stack_id)) if stack_id is not None else []

    def _other_lines(self, root: Root, found: Finding, alike: Sequence[TensorEvent]) -> str:
        """Say on which other lines the same was bad in the same step, or in whose gradients.

        Eagerly, all gradients of a type are made in one line: that which asked for them.

        Args:
            root: The root.
            found: The finding on it.
            alike: What the same bug has made bad.
        """
        run, eager = self._run, root.event.kind == "execution"
        backward = is_backward(run, root.event)
        if backward:
            place = place_of(run, root.event)
            same = (event for event in alike if eager and place_of(run, event) == place)
            ops = [self._lines.differentiated(event) for event in same]
            lines = [location_of(run, op.stack_id) for op in ops if op]
        else:
            same = (e for e in alike if op_type_of(run, e) == found.op_type)
            lines = [self._lines.ran(event) for event in same if not is_backward(run, event)]
        others = {(line.file, line.line): line.short for line in lines if line}
        if found.location:
            others.pop((found.location.file, found.location.line), None)
        whose = "the gradient of " if backward else ""
        return f"; the same in {whose}{_first_of(list(others.values()))}" if others else ""

    def _other_arguments(self, root: Root, alike: Sequence[TensorEvent]) -> str:
        """Say what else came in that was bad: of a batch of data several arrays may be."""
        run = self._run
        if op_type_of(run, root.event) not in ARGUMENTS:
            return ""
        others = [event for event in alike if op_type_of(run, event) in ARGUMENTS]
        names = dict.fromkeys(name_of(run, event) for event in others)
        names.pop(name_of(run, root.event), None)
        return f"; so came {_first_of(list(names))}" if names else ""

    def _given_later(self, root: Root) -> str:
        """Say what else Python gave that was bad, which it may or may not have made of this."""
        groups = (group for group in (root, *root.guessed) if group.node.open)
        given = [group.event for group in groups if self._is_given_by_python(group.event)]
        if root.event not in given:
            return ""
        names = list(dict.fromkeys(map(self._name_and_line, given)))[1:]
        return f"; given later, perhaps because of it: {_first_of(names)}" if names else ""

    def _is_given_by_python(self, event: TensorEvent) -> bool:
        """Whether Python gave a function a bad argument, or an eager op what no op has made."""
        if event.kind == "graph_execution":
            return UnrecordedLinks(self._dataflow).is_from_python(event)
        given = (one.given for one in self._dataflow.producers(event) if one.event is None)
        return any(one is not None and one.has_inf_or_nan is True for one in given)

    def _name_and_line(self, event: TensorEvent) -> str:
        line, graph = (
            self._lines.ran(event),
            self._run.graphs.get(graph_id_of(self._run, event) or ""),
        )
        inside = f" in {readable_function(graph.name)}" if graph else ""
        at = f" at {line.short}" if line else ""
        return f"{name_of(self._run, event)}{inside}{at}"

    def _beside_training(self, root: Root) -> str:
        """Say that what is trained stays as it was: only a metric is bad, or what is printed."""
        run, event = self._run, root.event
        later = [
            one
            for one in losses(self._dataflow)
            if one.kind == event.kind and one.index > event.index
        ]
        if root.contained or not later or len(root.members) > _MOST_MEMBERS:
            return ""
        reached = [node.site.first for node in root.members]
        places = {place_of(run, one) for one in losses(self._dataflow)}
        if any(is_backward(run, one) or place_of(run, one) in places for one in reached):
            return ""
        return "; no gradient, and no loss of which one is asked for, is bad because of it"

    def _stays(self, root: Root) -> str:
        """Say which eager tensors are ∞ in the end though that does no harm: they may be a result.

        What an algorithm has not reached has a distance of ∞.
        """
        members = (node.site.last for node in root.members[:_MEMBERS]) if root.contained else ()
        last = [self._name_and_line(event) for event in members if self._is_result(event)]
        if not last:
            return ""
        return f"; in the end ∞ is still in {_first_of(last)}, where it is right if it is meant"

    def _is_result(self, event: TensorEvent) -> bool:
        """Whether an eager tensor is the last of its line, is ∞, and is for nothing but Python."""
        run, dataflow = self._run, self._dataflow
        summary = self._causes.summary(event)
        if event.kind != "execution" or is_backward(run, event) or summary is None or summary.nan:
            return False
        if (
            assigns(op_type_of(run, event) or "")
            or dataflow.timeline.alike(event.index)[-1] > event.index
        ):
            return False
        is_inner = is_not_given(run, event) or is_kept_by_library(run, event)
        return not (is_inner or dataflow.consumers(event))

    def _hidden(self, root: Root) -> str:
        """Say that selects leave out what is bad, where a gradient is bad all the same."""
        members = (node.site.first for node in root.members[:_MEMBERS])
        if root.contained or not self._is_left_out(root.event, _SELECTED_AFTER):
            return ""
        return f" ({_HIDDEN})" * any(is_backward(self._run, event) for event in members)

    def _is_left_out(self, event: TensorEvent, depth: int) -> bool:
        """Whether only selects take a tensor of the forward pass, or what it makes bad.

        Args:
            event: The bad tensor.
            depth: Of how many ops one after the other the results are looked at.
        """
        run = self._run
        made = [
            (u.op_type, u.event) for u in self._dataflow.consumers(event) if u.event is not None
        ]
        made = [(op_type, one) for op_type, one in made if not is_backward(run, one)]
        if is_backward(run, event) or not made or not depth:
            return False
        for op_type, one in made:
            summary = self._causes.summary(one)
            if summary is None or summary.has_inf_or_nan is None:
                return False
            if summary.has_inf_or_nan and not self._is_left_out(one, depth - 1):
                return False
            if not summary.has_inf_or_nan and op_type not in SELECTS_ELEMENTS:
                return False
        return True


def _beside(root: Root) -> str:
    """Say what bad elements came in beside those that an op has made of its own."""
    came = root.addition.came_in.items() if root.addition else ()
    kinds = " and ".join(amount(count, kind) for kind, count in came if count)
    return f"; beside {kinds} that came in" if kinds else ""


def _first_of(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - _LINES} more" if len(names) > _LINES else ""
    return f"{', '.join(names[:_LINES])}{more}"


def _bad_as_well(expressions: Sequence[str]) -> str:
    return f"; bad as well: {_first_of(expressions)}" if expressions else ""
