"""Roots: which first bad tensors are one bug, which are consequences, which do no harm.

A bad value may come out of an op as a finite one: 1 / ∞ is 0.  What goes wrong with that one later
is a consequence as well, although no bad tensor leads there.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.unrecorded import UnrecordedLinks
from tfdbg_tui.diagnosis.events import op_name_of, op_type_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.op_traits import (
    DATASET_ELEMENTS,
    NON_FLOAT_RESULT,
    is_list_op,
    value_inputs,
)
from tfdbg_tui.diagnosis.roots.containment import SPREAD, Containment
from tfdbg_tui.diagnosis.roots.joints import Joints
from tfdbg_tui.diagnosis.roots.nodes import Root, count_with, joined, made_bad_by, top_of
from tfdbg_tui.diagnosis.roots.same_bug import SameBug
from tfdbg_tui.diagnosis.values import same_counts
from tfdbg_tui.diagnosis.worklist import Worklist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots.additions import Additions
    from tfdbg_tui.diagnosis.roots.alert_sites import Summaries
    from tfdbg_tui.diagnosis.roots.nodes import AlertNode

_ANCESTORS = 400  # tensors: so many that a root was made from are looked at


class Merging:
    """Merges the groups of alerts whose first tensors were made of finite values.

    Args:
        dataflow: Where tensors come from.
        summaries: Returns what was recorded of a tensor.
        finite: Tells whether an input of an event is known to be finite.
        node_of: Returns the place that an alert belongs to.
        additions: Finds what ops that were given bad elements have made bad of their own.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        summaries: Summaries,
        finite: Callable[[TensorEvent, Producer], bool],
        node_of: Callable[[TensorEvent], AlertNode | None],
        additions: Additions,
    ) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._summaries = summaries
        self._node_of = node_of
        self._additions = additions
        self._containment = Containment(dataflow, summaries)
        self._joints = Joints(
            dataflow, summaries, self._containment, bad=self._bad, is_given=self._is_given
        )
        self._unrecorded = UnrecordedLinks(dataflow)
        self._same = SameBug(dataflow, summaries, finite)
        self._roots: dict[AlertNode, Root] = {}

    def merge(self, groups: list[Root]) -> list[Root]:
        """Count consequences with the alerts that led to them, and join what is one bug."""
        kept: list[Root] = []
        self._joints.note(groups)
        self._containment.pipelines.note_arguments(
            node.site for group in groups for node in group.members
        )
        for group in groups:
            self._place(group, kept)
        for group in self._wrongly_guessed(kept):
            self._place(group, kept)
        numbered = kept
        kept = self._with_late_sources(kept)
        for root in kept:
            root.members.sort(key=lambda node: node.time)
            # What one first tensor alone did not show, that the program looks out for it, all may;
            # and what went into a list is now together with what was read from it.
            if not root.contained and (len(root.first_tensors) > 1 or self._reads_list(root)):
                root.contained = self._joints.contained(root)
        return self._with_additions(self._with_hidden(kept, numbered), len(numbered))

    def _with_additions(self, roots: list[Root], number: int) -> list[Root]:
        """Return the roots, and what ops that they made bad have made bad of their own.

        An array that Python gives to an op leaves no record: the op has the root of what came in.

        Args:
            roots: The roots.
            number: The first number that no group has.
        """
        found = []
        for root in roots:
            found.append(root)
            for node in root.members[:SPREAD] if not root.contained else ():
                event = node.site.first
                addition = self._additions.of(event)
                is_first = node is root.node
                if addition is None or (
                    not is_first and self._same.find(event, of_other_elements=True)
                ):
                    continue
                own = replace(node) if is_first else node
                added = Root(own, [own], first_tensors=[own.site.first], addition=addition)
                sites = [one.site for one in made_bad_by(node, root.members)]
                if self._containment.contained(added.event, sites, given=False):
                    continue
                root.members = [one for one in root.members if one is not own]
                self._note(added, number + len(found))
                found.append(added)
        return found

    def _with_hidden(self, kept: list[Root], numbered: list[Root]) -> list[Root]:
        """Return the roots, and those whose harm is hidden by that of others.

        Args:
            kept: The roots.
            numbered: The same with those that were counted with others, by number.
        """
        harmful = [root for root in kept if not root.contained]
        hidden = self._joints.hidden(kept)
        shown, unsure = [root for root in kept if root not in hidden], []
        for root in hidden:
            alike = [numbered[number] for number in self._same.find(root.event)]
            same = next((one for one in shown if one in alike and not one.contained), None)
            if same is not None:
                shown[shown.index(same)] = joined(root, same)
            elif before := self._ancestor(root)[0]:
                count_with(root, before)
            else:
                root.contained, root.unsure = False, True
                unsure.append(root)
        unused = [root for root in harmful if len(harmful) > 1 and self._goes_nowhere(root)]
        for root in unused if len(unused) < len(harmful) else ():
            root.unsure = True
        return self._one_a_line([*shown, *unsure])

    def _one_a_line(self, roots: list[Root]) -> list[Root]:
        """Join what one line did in several places, as in the functions that train and test.

        What it makes eagerly for one layer is told with what does harm in another.
        """
        kept: list[Root] = []
        for root in sorted(roots, key=lambda root: root.contained):
            alike = (
                one
                for one in kept
                if not one.contained
                and self._same.of_same_line(one.event, root.event)
                and (not root.contained or self._same.of_other_layer(one.event, root.event))
            )
            same = next(alike, None)
            if same is None:
                kept.append(root)
                continue
            same.first_tensors += root.first_tensors * (not root.contained)
            count_with(root, same)
        return [root for root in roots if root in kept]

    def _place(self, group: Root, kept: list[Root]) -> None:
        """Count a group with the root that it is a consequence of, or make it one."""
        if self._is_guessed(group, kept):
            return
        group.contained = self._joints.contained(group)
        ways = (
            self._join_source,
            self._join_written,
            self._replace_gradient,
            self._join_same_bug,
            self._join_ancestor,
        )
        if not any(way(group, kept) for way in ways):
            self._keep(group, len(kept), kept)

    def _is_guessed(self, group: Root, kept: list[Root]) -> bool:
        """Count a group whose inputs are not known with a root, for want of a better one."""
        if not group.node.open or self._is_of_other(group, kept):
            return False
        spread = next((root for root in kept if self._may_be_of(group, root)), None)
        if spread is None:
            return False
        count_with(group, spread)
        spread.guessed.append(group)
        return True

    def _may_be_of(self, group: Root, root: Root) -> bool:
        """Whether what came in without a record may be of a root.

        Python has not made more of what is only printed, as far as is likely, nor of what was
        computed after it called the function.  (What TensorFlow's writer leaves out may have used
        what seems to be only printed.)
        """
        if root.contained:
            return False
        if self._unrecorded.is_of_python_function(group.event, root.event):
            return True
        if self._dataflow.timeline.grouped and self._goes_nowhere(root):
            return False
        if not self._unrecorded.is_from_python(group.event):
            return True
        if self._is_other_data(group, root):
            return False
        called, made = map(self._dataflow.timeline.execution_at, (group.event, root.event))
        return called is None or made is None or made < called

    def _is_other_data(self, group: Root, root: Root) -> bool:
        """Whether what Python gave to an op or a function is older than a root, and is other data.

        Arguments of one name are likely to be data of one kind, as for training and for tests.
        """
        if not self._unrecorded.was_there_before(group.event, root.event):
            return False
        if not self._is_data(root):
            return True
        given, first = self._summaries(group.event), self._summaries(root.event)
        if given is None or first is None:
            return False
        if same_counts(given, first) and given.size != 1:  # one NaN is like another
            return False
        names = {op_name_of(self._run, one.event) for one in (group, root)}
        return len(names) > 1 or (given.shape or ())[1:] != (first.shape or ())[1:]

    def _join_source(self, group: Root, kept: list[Root]) -> bool:
        """Count a group with the root whose values it got without a record."""
        source = None if group.contained else self._source_of(group, kept)
        if source is None:
            return False
        count_with(group, source)
        source.contained = False
        return True

    def _join_written(self, group: Root, kept: list[Root]) -> bool:
        """Count NaN that was made of a mask's ∞ with that, where ∞ of it does harm beside NaN."""
        source = None if group.contained else self._joints.stays_beside(group)
        if source not in kept:
            return False
        count_with(group, source)
        source.contained = False
        return True

    def _replace_gradient(self, group: Root, kept: list[Root]) -> bool:
        """Put a group in the place of a root that is the gradient of what it begins with."""
        gradient = self._gradient_before(group, kept)
        if gradient is None:
            return False
        group.first_tensors += kept[gradient].first_tensors
        count_with(kept[gradient], group)
        self._keep(group, gradient, kept)
        return True

    def _join_same_bug(self, group: Root, kept: list[Root]) -> bool:
        """Make one root of a group and one of the same bug."""
        same = self._same_bug(group, kept)
        if same is None:
            return False
        if self._is_source_of(group, kept[same]):
            count_with(kept[same], group)
            self._keep(group, same, kept)
            return True
        kept[same].first_tensors += group.first_tensors
        self._note(group, same)
        count_with(group, kept[same])
        return True

    def _join_ancestor(self, group: Root, kept: list[Root]) -> bool:
        """Count a group with a root that its finite inputs were made from."""
        if all(root.contained for root in kept):
            return False
        ancestor, unsure = self._ancestor(group)
        if ancestor is None:
            group.unsure = unsure and not group.contained
            return False
        count_with(group, ancestor)
        return True

    def _wrongly_guessed(self, kept: list[Root]) -> list[Root]:
        """Take the groups out of roots that were counted there for want of a better one.

        A value that went into a list does no harm where all that comes out of the list does none;
        what else is bad is not because of it then.
        """
        wrong: list[Root] = []
        for root in kept:
            if root.contained or len(root.members) > SPREAD or not self._reads_list(root):
                continue
            guessed = root.guessed
            members, others = root.members, []
            added = {node for group in guessed for node in group.members}
            root.members = [node for node in members if node not in added]
            for group in guessed:
                if self._source_of(group, [root]) is None:
                    others.append(group)
                else:
                    root.members += group.members
            if others and self._joints.contained(root):
                root.contained = True
                wrong += others
            else:
                root.members = members
        for group in wrong:
            group.node.parent, group.node.inferred = None, False
        return wrong

    def _keep(self, group: Root, number: int, kept: list[Root]) -> None:
        """Make a group the root with a number: a new one, or one that is a consequence of it."""
        self._note(group, number)
        self._same.add_root(group.event, number)
        self._roots[group.node] = group
        kept[number:] = [group, *kept[number + 1 :]]

    def _goes_nowhere(self, root: Root) -> bool:
        """Whether nothing but Python has ever used what is bad: beside another root, in a test."""
        events = [node.site.first for node in root.members]
        return all(
            event.kind == "execution" and not self._dataflow.consumers(event) for event in events
        )

    def _with_late_sources(self, kept: list[Root]) -> list[Root]:
        """Count what did no harm with its root, where only now that has turned out to do harm.

        What a pipeline's function takes may be on record before what another one made, as they run
        at the same time; so may what a Python function of a graph computes.
        """
        spread = [root for root in kept if not root.contained]
        left = kept.copy()
        for root in kept:
            source = None
            if root.contained and root.node.open:
                source = self._source_of(root, spread)
            elif not root.contained and self._may_be_before_its_source(root):
                source = self._source_of(root, [other for other in left if other is not root])
            elif not root.contained and len(spread) > 1:
                source = self._ancestor(root)[0]
            if source is not None:
                count_with(root, source)
                source.contained &= root.contained
                left = [other for other in left if other is not root]
        return left

    def _is_source_of(self, group: Root, root: Root) -> bool:
        """Whether a root that is on record before a group may have got its values from there."""
        return self._may_be_before_its_source(root) and self._source_of(root, [group]) is not None

    def _may_be_before_its_source(self, root: Root) -> bool:
        is_from_python = root.node.open and self._unrecorded.is_from_python(root.event)
        return is_from_python or self._unrecorded.is_element(root.event)

    def _reads_list(self, root: Root) -> bool:
        return any(is_list_op(op_type_of(self._run, node.site.first)) for node in root.members)

    def _is_given(self, group: Root) -> bool:
        """Whether a group may be bad because of what is not on record, and of no known root."""
        if not group.node.open or not self._unrecorded.is_element(group.event):
            return group.node.open
        return self._source_of(group, list(self._roots.values())) is None

    def _is_data(self, group: Root) -> bool:
        return self._containment.is_data(group.event, given=group.node.open)

    def _note(self, group: Root, number: int) -> None:
        """Note the first tensors of a group as those of a root, given by its number."""
        for event in group.first_tensors:
            self._same.add(event, number)

    def _same_bug(self, group: Root, kept: list[Root]) -> int | None:
        """Return the number of the first root of the same bug, or None.

        What leaves a pipeline may do harm later, and is then to be told apart from what does none.
        """
        leaves = group.contained and any(map(self._leaves_pipeline, group.members))
        if leaves and not self._is_data(group):
            return None
        found = self._same.find(group.event)
        same = next((number for number in found if _may_share(kept[number], group)), None)
        if same is None and found and is_backward(self._run, group.event):
            # The value hid it, in a tf.where for example, but its gradient did not.
            same = found[0]
            kept[same].contained = False
        return same

    def _leaves_pipeline(self, node: AlertNode) -> bool:
        return self._unrecorded.leaves_pipeline(node.site.last)

    def _gradient_before(self, group: Root, kept: list[Root]) -> int | None:
        """Return the number of a root that is the gradient of what a group begins with, or None."""
        number = None if group.contained else self._same.find_gradient(group.event)
        if number is None or kept[number].contained:
            return None
        return number if is_backward(self._run, kept[number].event) else None

    def _is_of_other(self, group: Root, kept: list[Root]) -> bool:
        """Whether a group is an element of a dataset that may be of another root than the first."""
        if op_type_of(self._run, group.event) not in DATASET_ELEMENTS:
            return False
        source = self._source_of(group, kept)
        return source is not None and source.contained

    def _source_of(self, group: Root, kept: list[Root]) -> Root | None:
        """Return the root whose values a group may have got without a record, or None.

        Of several pipelines, an element of a dataset is likely to be of that which ran last.
        """
        op_type = op_type_of(self._run, group.event) or ""
        called = op_type.startswith("__")
        if not called and not group.node.open:
            return None
        for root in reversed(kept) if op_type in DATASET_ELEMENTS else kept:
            events = (e for n in root.members for e in dict.fromkeys((n.site.first, n.site.last)))
            for event in events:
                if group.node.open and self._unrecorded.goes_on_in(event, group.event):
                    return root
                inside = called and not root.contained
                if inside and self._unrecorded.is_inside(event, group.event):
                    return root
        return None

    def _ancestor(self, group: Root) -> tuple[Root | None, bool]:
        """Return the root of a bad tensor that a group's finite inputs were made from, or None.

        With it, whether not all numbers that they were made from can be looked at.
        """
        # A constant comes from Python, which may have got it from what is bad.
        unsure = op_type_of(self._run, group.event) == "Const"
        waiting, seen = deque([group.event]), {group.event}
        compared: deque[TensorEvent] = deque()
        while (waiting or compared) and len(seen) < _ANCESTORS:
            numbers = waiting or compared
            event = numbers.popleft()
            for producer in self._dataflow.producers(event):
                is_unknown = producer.op_type is None and producer.via != "eager"
                unsure |= numbers is waiting and (producer.lost or is_unknown)
                new = [made for made in self._recorded_of(event, producer) if made not in seen]
                seen.update(new)
                (numbers if producer.event is not None else compared).extend(new)
                for root in filter(None, map(self._root_of, new)):
                    if root is not group and not root.contained:
                        return root, unsure
        return None, unsure or bool(waiting)

    def _recorded_of(self, event: TensorEvent, producer: Producer) -> Iterator[TensorEvent]:
        """Yield an input of an event, or what it was made of by ops that leave no record.

        NaN equals nothing: a gradient of a maximum divides 0 by how many elements are equal to it.
        """
        if producer.event is not None or producer.nearest is None or event.kind == "execution":
            yield from () if producer.event is None else (producer.event,)
            return
        neighbours, (graph_id, ref, _) = self._dataflow.neighbours, producer.nearest
        start = neighbours.of_op(graph_id, ref.op_name, ref.slot, event.index)
        nodes = Worklist([start], most=_ANCESTORS)
        for node in nodes:
            if node.event is not None:
                yield node.event
            elif node.op_type not in NON_FLOAT_RESULT:
                inputs = neighbours.inputs(node)
                slots = value_inputs(node.op_type, len(inputs))
                nodes.add(*(one for one in inputs if node.is_boundary or one.input_slot in slots))

    def _root_of(self, event: TensorEvent) -> Root | None:
        """Return the root that made a tensor bad; None for a finite one."""
        node = self._bad(event)
        return self._roots.get(top_of(node)) if node is not None else None

    def _bad(self, event: TensorEvent) -> AlertNode | None:
        """Return the place that a bad tensor belongs to; None for a finite one."""
        summary = self._summaries(event)
        return self._node_of(event) if summary is not None and summary.has_inf_or_nan else None


def _may_share(root: Root, group: Root) -> bool:
    """Whether a root may be that of a group which is alike; what is open may be of another bug."""
    if not group.contained:
        return not root.contained
    return root.contained or not root.node.open
