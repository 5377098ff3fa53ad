"""From alerts to roots: which tensor was bad first on the way to each bad tensor.

An alert with a bad input got its trouble from there.  One whose inputs are all finite is a root:
the op itself made NaN or ∞.  Where an input left no record it stays open, and is laid at the door
of trouble that came before it, unless there was none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.badsites import BadSite, Place, bad_sites
from tfdbg_tui.diagnosis.containment import Containment
from tfdbg_tui.diagnosis.events import (
    TensorEvent,
    graph_id_of,
    graph_op_of,
    op_type_of,
    summary_of,
)
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.optypes import ONE_TYPE, SOURCES, unrecorded, value_inputs
from tfdbg_tui.diagnosis.same_bug import SameBug
from tfdbg_tui.diagnosis.values import explains

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.logdir import Run, TensorSummary


class Health(Enum):
    """What is known of an input's values."""

    FINITE = "finite"
    BAD = "bad"
    UNKNOWN = "unknown"
    NO_VALUES = "no values"  # an axis, a shape, an integer


@dataclass(eq=False, slots=True)
class Node:
    """A place with alerts, and where its trouble comes from.

    Attributes:
        site: The place.
        time: When its first alert happened: a time, and a finer one within a call.
        parent: The place whose bad tensor came in; None for a root.
        inferred: Whether the link to the parent is a conclusion.
        open: Whether an input is unknown, so that the trouble may have come from there.
    """

    site: BadSite
    time: tuple[float, float]
    parent: Node | None = None
    inferred: bool = False
    open: bool = False


@dataclass(eq=False, slots=True)
class Root:
    """What made a group of alerts.

    Attributes:
        node: The place where the first of them was born.
        members: Places of all of them, in order of time.
        contained: Whether no bad value got anywhere that matters.
        births: The first tensor, and those of other places where the same bug struck.
    """

    node: Node
    members: list[Node] = field(default_factory=list)
    contained: bool = False
    births: list[TensorEvent] = field(default_factory=list)

    @property
    def event(self) -> TensorEvent:
        """The first bad tensor."""
        return self.node.site.first

    @property
    def alerts(self) -> int:
        """Number of alerts that come from it."""
        return sum(node.site.alerts for node in self.members)


class Causes:
    """The roots of a run's alerts.

    Attributes:
        roots: Roots, in order of their first alerts, contained ones included.
    """

    def __init__(self, run: Run, dataflow: Dataflow) -> None:
        self._run = run
        self._dataflow = dataflow
        self._summaries: dict[TensorEvent, TensorSummary | None] = {}
        self._nodes: dict[Place, list[Node]] = {}
        self._containment = Containment(run, dataflow, self.summary)
        self._same = SameBug(run, dataflow, self.summary, self._finite)
        self.roots: list[Root] = self._find()

    def summary(self, event: TensorEvent) -> TensorSummary | None:
        """Return what was recorded of a tensor, read once."""
        if event not in self._summaries:
            self._summaries[event] = summary_of(self._run, event)
        return self._summaries[event]

    def health(self, event: TensorEvent, producer: Producer) -> Health:
        """Return what is known of an input of an event."""
        op_type = op_type_of(self._run, event)
        number = producer.input_slot + 1
        if producer.via in ("graph", "eager", "argument", "call"):
            slots = value_inputs(op_type, number)
            if producer.input_slot not in slots:
                return Health.NO_VALUES
        if producer.event is not None:
            summary = self.summary(producer.event)
            if summary is not None and summary.has_inf_or_nan is not None:
                if summary.has_inf_or_nan:
                    return Health.BAD
                # Of the tensors in a list only one is looked at.
                in_list = (producer.op_type or "").startswith("TensorList")
                return Health.UNKNOWN if in_list else Health.FINITE
        if producer.lost or producer.op_type is None or unrecorded(producer.op_type):
            return Health.UNKNOWN
        if op_type in ONE_TYPE and producer.op_type != "Const":
            return Health.UNKNOWN  # a filter has left it out
        graph_id = graph_id_of(self._run, event)
        if graph_id is not None and not self._dataflow.timeline.recorded_whole(graph_id):
            return Health.UNKNOWN
        return Health.NO_VALUES

    def _finite(self, event: TensorEvent, producer: Producer) -> bool:
        return self.health(event, producer) is Health.FINITE

    def node_of(self, event: TensorEvent) -> Node | None:
        """Return the place that an alert belongs to."""
        found = None
        for node in self._nodes.get(_place(self._run, event), []):
            if node.site.slot == event.slot and node.site.first.index <= event.index:
                found = node
        return found

    def _find(self) -> list[Root]:
        nodes = self._sorted_nodes()
        for node in nodes:
            self._link(node)
        groups = self._groups(nodes)
        return self._merge(groups)

    def _sorted_nodes(self) -> list[Node]:
        sites = bad_sites(self._run, self.summary)
        nodes = []
        for kind, events in (
            ("graph_execution", self._run.graph_executions),
            ("execution", self._run.executions),
        ):
            mine = [site for site in sites if site.first.kind == kind]
            times = events.wall_times([site.first.index for site in mine])
            nodes += [
                Node(site, self._when(site.first, float(time)))
                for site, time in zip(mine, times, strict=True)
            ]
        for node in nodes:
            self._nodes.setdefault(node.site.place, []).append(node)
        # An execution is recorded after what happened inside it.
        nodes.sort(key=lambda n: (n.time, n.site.first.kind == "execution", n.site.first.index))
        return nodes

    def _when(self, event: TensorEvent, recorded: float) -> tuple[float, float]:
        """Return a key by which events sort in the order in which they happened."""
        timeline = self._dataflow.timeline
        if event.kind == "execution" or not timeline.grouped:
            return recorded, 0.0
        op = graph_op_of(self._run, event)
        index = timeline.execution_of(event.index)
        if index is not None:
            recorded = float(self._run.executions.wall_times([index])[0])
        return recorded, op.wall_time - 1e10 if op else 0.0

    def _link(self, node: Node) -> None:
        """Find the bad input that a place's first alert got its trouble from."""
        event = node.site.first
        bad: list[tuple[Node, Producer]] = []
        for producer in self._dataflow.producers(event):
            health = self.health(event, producer)
            if health is Health.BAD and producer.event is not None:
                parent = self.node_of(producer.event)
                if parent is not None and parent is not node and not _leads_to(parent, node):
                    bad.append((parent, producer))
            elif health is Health.UNKNOWN:
                node.open = True
        if op_type_of(self._run, event) in SOURCES - {"Const"}:
            node.open = True
        if bad and not self._nan_of_constant_infinity(event, [parent for parent, _ in bad]):
            bad.sort(key=lambda link: link[0].time)
            parent, producer = max(bad, key=lambda link: self._explains(link[1], node))
            node.parent, node.inferred = parent, producer.inferred

    def _explains(self, producer: Producer, node: Node) -> int:
        source = self.summary(producer.event) if producer.event else None
        return explains(source, node.site.kinds)

    def _nan_of_constant_infinity(self, event: TensorEvent, parents: list[Node]) -> bool:
        """Whether NaN was made of nothing but ∞ that the program wrote down as a constant.

        Such an ∞, the -∞ of a mask for example, is meant: the bug is where it turns into NaN.
        """
        summary = self.summary(event)
        if summary is None or not summary.nan:
            return False
        for parent in parents:
            given = self.summary(parent.site.last)
            if given is None or given.nan is None or given.nan:
                return False
            top = _top(parent)
            if top.open or op_type_of(self._run, top.site.first) != "Const":
                return False
        return True

    def _groups(self, nodes: list[Node]) -> list[Root]:
        roots: dict[int, Root] = {}
        for node in nodes:
            top = _top(node)
            root = roots.setdefault(id(top), Root(top, births=[top.site.first]))
            root.members.append(node)
        # Within a call recorded as a whole, sure roots come before those that may be consequences.
        return sorted(
            roots.values(), key=lambda root: (root.node.time[0], root.node.open, root.node.time[1])
        )

    def _merge(self, groups: list[Root]) -> list[Root]:
        """Lay open groups at the door of earlier trouble, and join what is one and the same bug."""
        kept: list[Root] = []
        for group in groups:
            spread = [root for root in kept if not root.contained]
            if group.node.open and spread:
                into: Root | None = spread[0]
            else:
                sites = [member.site for member in group.members]
                group.contained = self._containment.contained(group.event, sites)
                into = self._same_trouble(group, kept, spread)
            if into is None:
                kept.append(group)
                continue
            if group.node.open:
                group.node.parent, group.node.inferred = into.node, True
            else:
                into.births += group.births
            into.members += group.members
        for root in kept:
            root.members.sort(key=lambda node: node.time)
        return kept

    def _same_trouble(self, group: Root, kept: list[Root], spread: list[Root]) -> Root | None:
        """Return the earlier root of the same bug, or None."""
        same = self._same_bug(group, kept if group.contained else spread)
        if same is None and not group.contained and is_backward(self._run, group.event):
            # The value hid it, in a tf.where for example, but its gradient did not.
            same = self._same_bug(group, kept)
            if same is not None:
                same.contained = False
        return same

    def _same_bug(self, group: Root, kept: list[Root]) -> Root | None:
        """Find an earlier root of the same input, or of the same op traced or placed anew."""
        forward = self._same.forward_graphs(group.event)
        for root in kept:
            if graph_id_of(self._run, root.event) in forward:
                return root
            if any(self._same.same(group.event, birth) for birth in root.births):
                return root
        return None


def _leads_to(parent: Node, node: Node) -> bool:
    """Whether a place's trouble comes, directly or not, from another one."""
    above: Node | None = parent
    while above is not None:
        if above is node:
            return True
        above = above.parent
    return False


def _top(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def _place(run: Run, event: TensorEvent) -> Place:
    if event.kind == "graph_execution":
        return ("graph_execution", run.graph_executions.site_ids[event.index], 0)
    return ("execution", run.executions.kinds[event.index], run.executions.stack_ids[event.index])
