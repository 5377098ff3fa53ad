"""Where bad values of several groups meet: whose harm it is, and what is not seen behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfdbg_tui.diagnosis.events import op_type_of
from tfdbg_tui.diagnosis.op_traits import JOINS, KEEPS_INFINITY, MOVES, SUMS, value_inputs
from tfdbg_tui.diagnosis.roots.containment import SPREAD
from tfdbg_tui.diagnosis.roots.nodes import made_bad_by, top_of
from tfdbg_tui.diagnosis.values import bad_kinds, is_logarithm_of_mask, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.diagnosis.roots.containment import Containment
    from tfdbg_tui.diagnosis.roots.nodes import AlertNode, Root
    from tfdbg_tui.logdir import TensorSummary

_BAD = ("nan", "neg_inf", "pos_inf")


class _Joint(NamedTuple):
    """Where bad values of a group went into a tensor that another group has made bad as well.

    Attributes:
        source: The place of the group that they come from.
        node: The place of the tensor.
        made: The tensor.
    """

    source: AlertNode
    node: AlertNode
    made: TensorEvent


class Joints:
    """Tells whether groups do harm, alone or where their bad values meet.

    Args:
        dataflow: Where tensors come from.
        summaries: Returns what was recorded of a tensor.
        containment: Follows bad tensors to their uses.
        bad: Returns the place that a bad tensor belongs to; None for a finite one.
        is_given: Tells whether a group may be bad because of what is not on record.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        summaries: Summaries,
        containment: Containment,
        bad: Callable[[TensorEvent], AlertNode | None],
        is_given: Callable[[Root], bool],
    ) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._summaries = summaries
        self._containment = containment
        self._bad = bad
        self._is_given = is_given
        self._groups: dict[AlertNode, Root] = {}

    def note(self, groups: list[Root]) -> None:
        """Note all groups, before they are merged."""
        self._groups = {group.node: group for group in groups}

    def contained(self, group: Root) -> bool:
        """Whether what a group made bad does no harm, also where other bad values came in."""
        if not self._is_contained(group, group.members):
            return False
        joints = self._joints(group)
        shown = {j.node: j.source for j in joints if self._came_through(group, j.made, j.node)}
        spreads = [self._spreads(group, source, joint) for joint, source in shown.items()]
        return not any(spreads)

    def _is_contained(self, group: Root, members: list[AlertNode]) -> bool:
        sites = [member.site for member in members]
        return self._containment.contained(group.event, sites, given=self._is_given(group))

    def _joints(self, group: Root) -> Iterator[_Joint]:
        """Yield where bad values went into a tensor that another group has made bad as well."""
        for node in group.members:
            yield from self._joints_of(group, node)

    def _joints_of(self, group: Root, node: AlertNode) -> Iterator[_Joint]:
        """Yield those that one place leads to, which is of the group or has met it."""
        for event in dict.fromkeys((node.site.first, node.site.last)):
            for use in self._dataflow.consumers(event):
                if use.event is None or use.op_type not in KEEPS_INFINITY | MOVES:
                    continue
                joint = self._bad(use.event)
                if joint is not None and self._groups[top_of(joint)] is not group:
                    yield _Joint(node, joint, use.event)

    def _came_through(self, group: Root, made: TensorEvent, joint: AlertNode) -> bool:
        """Whether a bad tensor shows more than what comes from inputs that others made bad.

        That is, it is bad in another way than those, or has more bad elements; or they are fine
        this time, and it is bad in a way in which it was not before.
        """
        summary, others = self._summaries(made), self._inputs_of_others(group, made)
        if summary is None or others is None:
            return False
        kinds, known = bad_kinds(summary), frozenset().union(*map(bad_kinds, others))
        if not kinds <= (known or joint.site.kinds):
            return True
        op_type = op_type_of(self._run, made)
        return bool(known) and op_type in KEEPS_INFINITY and _has_more(summary, others, op_type)

    def _inputs_of_others(self, group: Root, made: TensorEvent) -> list[TensorSummary] | None:
        """Return the inputs of a tensor that a group has not made bad; None if one is not known."""
        op_type, found = op_type_of(self._run, made), []
        for producer in self._dataflow.producers(made):
            event, slot = producer.event, producer.input_slot
            if not producer.is_number or slot not in value_inputs(op_type, slot + 1):
                continue
            node = self._bad(event) if event is not None else None
            if node is not None and top_of(node) is group.node:
                continue
            given = producer.given or (self._summaries(event) if event is not None else None)
            if given is None:
                return None
            found.append(given)
        return found

    def _spreads(self, group: Root, source: AlertNode, joint: AlertNode) -> bool:
        """Whether bad values of a group do harm where they met those of one that does none.

        What was bad because of both is counted with it then, not with the mask of -∞, say.
        """
        other = self._groups[top_of(joint)]
        met = made_bad_by(joint, other.members)
        rest = [node for node in other.members if node not in met]
        if other is group or not self._does_no_harm(other, rest, group):
            return False
        if self._is_contained(group, [*group.members, *met]):
            return False
        joint.parent = source
        other.members, other.contained = rest, True
        group.members += met
        return True

    def stays_beside(self, group: Root) -> Root | None:
        """Return the group whose ∞ NaN was made of, where a sum of that is ∞ and does harm.

        Such a sum is no mask any more.  Without NaN it would be ∞ all the same.
        """
        infinite = [node for node in group.members if node.site.kinds - {"nan"}]
        if not any(op_type_of(self._run, node.site.first) in SUMS for node in infinite):
            return None
        for producer in self._dataflow.producers(group.event):
            made = self._bad(producer.event) if producer.event is not None else None
            source = self._groups.get(top_of(made)) if made is not None else None
            if source not in (None, group):
                stays = not self._is_contained(source, [*source.members, *infinite])
                return source if stays else None
        return None

    def hidden(self, roots: list[Root]) -> list[Root]:
        """Return those that seem to do no harm, where that of others may hide it.

        What they hide may itself hide others.

        Args:
            roots: All roots.
        """
        harmful = [root for root in roots if not root.contained]
        if not harmful:
            return []
        waiting = [root for root in roots if root.contained and self._may_be_hidden(root)]
        hidden: list[Root] = []
        while found := [root for root in waiting if self._is_hidden(root, [*harmful, *hidden])]:
            waiting = [root for root in waiting if root not in found]
            hidden += found
        return [root for root in roots if root in hidden]

    def _may_be_hidden(self, root: Root) -> bool:
        """Whether a root was computed, or is NaN of data: ∞ that is written down is meant.

        So is that of the logarithm of a mask.
        """
        op_type = op_type_of(self._run, root.event)
        if is_logarithm_of_mask(op_type, self._summaries(root.event)):
            return False
        is_data = self._containment.is_data(root.event, given=root.node.open)
        return is_data or not self._is_from_outside(root)

    def _is_hidden(self, root: Root, harmful: list[Root]) -> bool:
        """Whether bad values met what others had made bad, and are not seen from there on.

        They may have done no harm, but nothing shows that.
        """
        members = dict.fromkeys(root.members)
        groups = {node: other for other in harmful for node in other.members}
        ends = {(n.site.place, n.site.slot) for n in root.members if self._goes_no_further(n)}
        waiting = root.members
        while waiting and len(members) <= SPREAD:
            # What two roots have made bad may meet what a third one has.
            met = {joint.node for node in waiting for joint in self._joints_of(root, node)}
            met = {node for node in met if (node.site.place, node.site.slot) not in ends}
            known = (node for node in met if node in groups)
            below = (one for node in known for one in made_bad_by(node, groups[node].members))
            waiting = [one for one in dict.fromkeys(below) if one not in members]
            members |= dict.fromkeys(waiting)
        return len(members) > len(root.members) and not self._is_contained(root, list(members))

    def _goes_no_further(self, node: AlertNode) -> bool:
        """Whether nothing is bad that was made of a place's ∞: so it is whatever else comes in."""
        return not any(
            use.event is not None and self._bad(use.event)
            for event in (node.site.first, node.site.last)
            for use in self._dataflow.consumers(event)
        )

    def _does_no_harm(self, group: Root, rest: list[AlertNode], met: Root) -> bool:
        """Whether a group does no harm, or only together with another one, which has to answer.

        Of two, the bug is where ∞ was computed, not where it is written down.

        Args:
            group: The group.
            rest: Its members that are not bad because of the other one as well.
            met: The other one.
        """
        if self._is_contained(group, group.members):
            return True
        is_written = self._is_from_outside(group) and not self._is_from_outside(met)
        return is_written and bool(rest) and self._is_contained(group, rest)

    def _is_from_outside(self, group: Root) -> bool:
        return self._containment.is_from_outside(group.event, given=group.node.open)


def _has_more(made: TensorSummary, inputs: list[TensorSummary], op_type: str | None) -> bool:
    """Whether a tensor has more bad elements than inputs that were broadcast, or put together."""
    bad, number = total(made, *_BAD), 0
    for given in inputs:
        count = total(given, *_BAD)
        if count is None or not given.size:
            return False
        number += count if op_type in JOINS else count * ((made.size or 0) // given.size)
    return bad is not None and bad > number
