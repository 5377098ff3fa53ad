"""From alerts to roots: which tensor was the first bad one on the chain to each bad tensor.

An alert with a bad input is a consequence of it.  One whose inputs are all finite is a root:
the op itself made NaN or ∞.  Where an input left no record it stays open, and counts as a
consequence of an earlier alert, unless there was none.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import (
    graph_id_of,
    graph_op_of,
    op_type_of,
    summary_of,
)
from tfdbg_tui.diagnosis.op_traits import (
    ARRANGES,
    COMPARES_AND_ADDS,
    COMPLEX,
    DATASET_ELEMENTS,
    MOVES,
    ONE_TYPE,
    SELECTS_ELEMENTS,
    SOURCES,
    SUMS,
    WRITES,
    is_list_op,
    unrecorded,
    value_inputs,
)
from tfdbg_tui.diagnosis.roots.additions import Additions
from tfdbg_tui.diagnosis.roots.alert_sites import AlertPlace, alert_sites, parted, place_of
from tfdbg_tui.diagnosis.roots.merging import Merging
from tfdbg_tui.diagnosis.roots.nodes import AlertNode, Root, top_of, tops_of
from tfdbg_tui.diagnosis.values import bad_kinds, explains, is_logarithm_of_mask, same_counts

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.logdir import TensorSummary

_TO_TERMS = 4  # ops from a logarithm to the terms of its sum: a reshape, the sum, the exponential


class Health(Enum):
    """What is known of an input's values."""

    FINITE = "finite"
    BAD = "bad"
    UNKNOWN = "unknown"
    NO_VALUES = "no values"  # an axis, a shape, an integer


class Causes:
    """The roots of a run's alerts.

    Attributes:
        roots: Roots, in order of their first alerts, contained ones included.
    """

    def __init__(self, dataflow: Dataflow) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._summaries: dict[TensorEvent, TensorSummary | None] = {}
        self._nodes: dict[tuple[AlertPlace, int], list[AlertNode]] = {}
        self._eager: list[AlertNode] = []
        self._first_uses: dict[AlertNode, int] = {}
        self.roots: list[Root] = self._find()

    def summary(self, event: TensorEvent) -> TensorSummary | None:
        """Return what was recorded of a tensor, read once."""
        if event not in self._summaries:
            self._summaries[event] = summary_of(self._run, event)
        return self._summaries[event]

    def input_summary(self, producer: Producer) -> TensorSummary | None:
        """Return what was recorded of an input, by the op that took it or the one that made it."""
        if producer.given is not None:
            return producer.given
        return self.summary(producer.event) if producer.event else None

    def health(self, event: TensorEvent, producer: Producer) -> Health:
        """Return what is known of an input of an event."""
        if not self._holds_values(event, producer):
            return Health.NO_VALUES
        summary = self.input_summary(producer)
        if summary is None or summary.has_inf_or_nan is None:
            may_hold = self._may_be_unrecorded(event, producer)
            return Health.UNKNOWN if may_hold else Health.NO_VALUES
        if summary.has_inf_or_nan:
            return Health.BAD
        # Of the tensors that went into a list only one is looked at.
        made_by = op_type_of(self._run, producer.event) if producer.event else None
        listed = is_list_op(producer.op_type) and made_by != producer.op_type
        return Health.UNKNOWN if listed else Health.FINITE

    def _holds_values(self, event: TensorEvent, producer: Producer) -> bool:
        """Whether an input is numbers that the op computes with, and no axis, shape or integer."""
        if not producer.is_number:
            return False
        if producer.via not in ("graph", "eager", "argument", "call"):
            return True
        slots = value_inputs(op_type_of(self._run, event), producer.input_slot + 1)
        return producer.input_slot in slots

    def _may_be_unrecorded(self, event: TensorEvent, producer: Producer) -> bool:
        """Whether an input of which no values are on record may have had some."""
        if producer.lost or producer.op_type is None or unrecorded(producer.op_type):
            return True
        op_type = op_type_of(self._run, event)
        if op_type in ONE_TYPE and producer.op_type != "Const":
            return True  # a filter has left it out
        if op_type in COMPLEX or self._run.limits:
            return True
        graph_id = graph_id_of(self._run, event)
        return graph_id is not None and not self._dataflow.timeline.recorded_whole(graph_id)

    def _finite(self, event: TensorEvent, producer: Producer) -> bool:
        return self.health(event, producer) is Health.FINITE

    def _known_inputs(self, event: TensorEvent) -> list[tuple[Producer, TensorSummary]] | None:
        """Return the inputs that hold values, and what is on record of them; None if not of all."""
        found = []
        for producer in self._dataflow.producers(event):
            health, summary = self.health(event, producer), self.input_summary(producer)
            if health is Health.UNKNOWN:
                return None
            if health is not Health.NO_VALUES and summary is not None:
                found.append((producer, summary))
        return found

    def node_of(self, event: TensorEvent) -> AlertNode | None:
        """Return the place that an alert belongs to."""
        found = None
        for node in self._nodes.get((place_of(self._run, event), event.slot), []):
            if node.site.first.index <= event.index:
                found = node
        return found

    def _find(self) -> list[Root]:
        nodes = self._sorted_nodes()
        self._eager = [node for node in nodes if node.site.first.kind == "execution"]
        links = {node: self._link(node) for node in nodes}
        for node in self._without_beginnings(nodes):
            links[node] = self._link(node)
        # What is written down shows only when everything has been linked to where it comes from.
        for node, parents in links.items():
            if self._nan_of_written_infinity(node.site.first, parents):
                node.parent = None
            elif node.parent is None and not node.open:
                self._link_logarithm(node)
        additions = Additions(self._dataflow, self.summary, self._known_inputs)
        merging = Merging(self._dataflow, self.summary, self._finite, self.node_of, additions)
        return merging.merge(self._groups(nodes))

    def _sorted_nodes(self) -> list[AlertNode]:
        sites = alert_sites(self._run)
        nodes = []
        for kind, events in (
            ("graph_execution", self._run.graph_executions),
            ("execution", self._run.executions),
        ):
            mine = [site for site in sites if site.first.kind == kind]
            times = events.wall_times([site.first.index for site in mine])
            nodes += [
                AlertNode(site, self._when(site.first, float(time)))
                for site, time in zip(mine, times, strict=True)
            ]
        for node in nodes:
            self._nodes.setdefault((node.site.place, node.site.slot), []).append(node)
        nodes.sort(key=_in_time)
        return nodes

    def _without_beginnings(self, nodes: list[AlertNode]) -> list[AlertNode]:
        """Part roots from their first alerts, of which nothing else has become bad; return them.

        A mask that leaves out ∞ in some steps and not in a later one does harm from then on.

        Args:
            nodes: All places; takes those of the first alerts, and is sorted again.
        """
        later = [
            node
            for node, first in self._first_uses.items()
            if node.parent is None and first > node.site.first.index
        ]
        for node in later:
            beginning, node.site = parted(self._run, node.site, self._first_uses[node])
            mine = self._nodes[node.site.place, node.site.slot]
            nodes.append(AlertNode(beginning, node.time, open=node.open))
            mine.insert(mine.index(node), nodes[-1])
            first, run = node.site.first, self._run
            events = run.executions if first.kind == "execution" else run.graph_executions
            node.time = self._when(first, float(events.wall_times([first.index])[0]))
            node.open = False
        nodes.sort(key=_in_time)
        return later

    def _when(self, event: TensorEvent, recorded: float) -> tuple[float, float]:
        """Return a key by which events sort in the order in which they happened."""
        timeline = self._dataflow.timeline
        if event.kind == "execution":
            return recorded, 0.0
        op = graph_op_of(self._run, event) if timeline.grouped else None
        within = op.wall_time - 1e10 if op else recorded - 1e10
        index = timeline.execution_of(event.index)
        if index is not None:
            recorded = float(self._run.executions.wall_times([index])[0])
        return recorded, within

    def _link(self, node: AlertNode) -> list[AlertNode]:
        """Find the bad input that made a place's first alert bad; return all that may have."""
        event = node.site.first
        bad: list[tuple[AlertNode, Producer]] = []
        for producer in self._dataflow.producers(event):
            producer = self._most_suspect(event, producer)
            health = self.health(event, producer)
            parent = self._bad_parent(node, producer) if health is Health.BAD else None
            if parent is not None:
                bad.append((parent, producer))
            elif health is Health.UNKNOWN:
                node.open = True
        op_type = op_type_of(self._run, event)
        if op_type is None or op_type in (SOURCES | MOVES) - {"Const"}:
            # Its inputs are not known, or it only passes on what it was given.
            node.open = True
        if bad:
            bad.sort(key=lambda link: link[0].time)
            parent, producer = max(bad, key=lambda link: self._explains(link[1], node))
            node.parent, node.inferred = parent, producer.inferred
            parent.is_parent = True
        elif op_type == "Const":
            node.parent, node.inferred = self._captured(node), True
        return [parent for parent, _ in bad]

    def _bad_parent(self, node: AlertNode, producer: Producer) -> AlertNode | None:
        """Return the alert that a bad input of a node is; None where that leaves the node open.

        None is also returned where the input is the node itself, or made of it.
        """
        event = node.site.first
        if producer.event is None or self._asked_about(event, producer):
            node.open = True  # what the program put in its place is bad as well
            return None
        parent = self.node_of(producer.event)
        if parent is None:
            node.open = True  # the assignment of a variable
            return None
        if parent is node or _leads_to(parent, node):
            return None
        if self._is_later_list(producer.event, event):
            node.open = True
            return None
        # Of what went into a list, any may be what came out of it.
        row = parent.site.first.index if producer.inferred else producer.event.index
        self._first_uses[parent] = min(row, self._first_uses.get(parent, row))
        return parent

    def _link_logarithm(self, node: AlertNode) -> None:
        """Link log(sum(exp(x))) that is -∞ to what made all terms -∞, if that was computed.

        Their exponentials are 0, so that no input of the logarithm is bad.
        """
        source = self._infinite_terms(node.site.first)
        parent = self.node_of(source) if source is not None else None
        if parent is None or parent is node or _leads_to(parent, node):
            return
        if not self._is_written(top_of(parent), mask=True):
            node.parent, node.inferred, parent.is_parent = parent, True, True

    def _infinite_terms(self, event: TensorEvent) -> TensorEvent | None:
        """Return x of log(sum(exp(x))) where its -∞ accounts for every sum that is 0."""
        if op_type_of(self._run, event) != "Log":
            return None
        total: TensorSummary | None = None
        for _ in range(_TO_TERMS):
            producer = next(iter(self._dataflow.producers(event)), None)
            if producer is None or producer.event is None:
                return None
            given, made_by = self.input_summary(producer), op_type_of(self._run, event)
            total = total or given
            if made_by == "Exp":
                return producer.event if _accounts_for(given, total) else None
            event = producer.event
            if op_type_of(self._run, event) not in SUMS | ARRANGES | {"Exp"}:
                return None
        return None

    def _most_suspect(self, event: TensorEvent, producer: Producer) -> Producer:
        """Return an input as it is, or as another run of its function made it if that was bad.

        Where runs may have overtaken each other, it may be either.
        """
        made = producer.event
        if not self._finite(event, producer) or made is None or producer.given is not None:
            return producer
        timeline = self._dataflow.timeline
        others: list[TensorEvent] = []
        if timeline.grouped and timeline.overtaken(event, made):
            others = timeline.alternatives(made)
        elif not timeline.grouped and producer.via == "call":
            others = timeline.between(event, made)
        for other in others:
            summary = self.summary(other)
            if summary is not None and summary.has_inf_or_nan:
                return replace(producer, event=other, inferred=True)
        return producer

    def _asked_about(self, event: TensorEvent, producer: Producer) -> bool:
        """Whether a select leaves out what is not finite: ``tf.where(is_finite(x), x, np.inf)``.

        Also one that gives ∞ and has left out all NaN, which is what it was given here.
        """
        if op_type_of(self._run, event) not in SELECTS_ELEMENTS:
            return False
        given, made = (bad_kinds(s) for s in (self.input_summary(producer), self.summary(event)))
        if given and made and given.isdisjoint(made):
            return True
        if producer.input_slot != 1:
            return False
        condition = next(iter(self._dataflow.producers(event)), None)
        return condition is not None and condition.op_type == "IsFinite"

    def _captured(self, constant: AlertNode) -> AlertNode | None:
        """Return the eager tensor that a graph's constant is a copy of, as its counts tell.

        A function does not capture small tensors: it gets constants with their values.
        """
        summary = self.summary(constant.site.first)
        if summary is None or summary.size is None:
            return None
        for node in reversed(self._eager):
            given = self.summary(node.site.first)
            if node.time < constant.time and given is not None and same_counts(given, summary):
                return node
        return None

    def _is_later_list(self, source: TensorEvent, event: TensorEvent) -> bool:
        """Whether an input seems to come out of a list that was only complete afterwards."""
        return is_list_op(op_type_of(self._run, source)) and source.index > event.index

    def _explains(self, producer: Producer, node: AlertNode) -> int:
        return explains(self.input_summary(producer), node.site.kinds)

    def _nan_of_written_infinity(self, event: TensorEvent, parents: list[AlertNode]) -> bool:
        """Whether NaN was made of nothing but ∞ that the program wrote down.

        Such an ∞, the -∞ of a mask for example, is meant: the bug is where it turns into NaN.
        """
        summary = self.summary(event)
        if not parents or summary is None or not summary.nan:
            return False
        for parent in parents:
            given = self.summary(parent.site.last)
            if given is None or given.nan is None or given.nan:
                return False
            softmax = op_type_of(self._run, event) in ("Softmax", "LogSoftmax")
            if not self._is_written(top_of(parent), mask=softmax and not given.pos_inf):
                return False
        return True

    def _is_written(self, node: AlertNode, *, mask: bool) -> bool:
        """Whether ∞ comes from a constant: one in a graph, or one that Python gave to an op.

        The logarithm of a mask of zeros and ones is as good as one.
        """
        op_type = op_type_of(self._run, node.site.first)
        if op_type == "Const":
            return True
        if mask and is_logarithm_of_mask(op_type, self.summary(node.site.first)):
            return True
        return node.open and (op_type in WRITES or (mask and op_type in COMPARES_AND_ADDS))

    def _groups(self, nodes: list[AlertNode]) -> list[Root]:
        roots: dict[int, Root] = {}
        tops = tops_of(nodes)
        for node in nodes:
            top = tops[node]
            root = roots.setdefault(id(top), Root(top, first_tensors=[top.site.first]))
            root.members.append(node)
        return sorted(
            roots.values(),
            key=lambda root: (
                root.node.time[0],
                self._rank(root.node),
                *self._within_call(root.node),
            ),
        )

    def _within_call(self, root: AlertNode) -> tuple[bool, float]:
        """Return a key by which roots of one call sort in the order in which they happened."""
        event = root.site.first
        in_order = self._dataflow.timeline.grouped or event.kind == "execution"
        return event.kind == "execution", event.index if in_order else root.time[1]

    def _rank(self, root: AlertNode) -> int:
        """Return a number by which roots of one call are sorted.

        Sure roots come before those that may be consequences, which an element of a dataset is not.
        TensorFlow's own writer keeps the order of ops but for those that wait in lists.
        """
        op_type = op_type_of(self._run, root.site.first)
        if not root.open:
            return 0
        if self._dataflow.timeline.grouped:
            return int(op_type not in DATASET_ELEMENTS)
        return int(is_list_op(op_type))


def _in_time(node: AlertNode) -> tuple[tuple[float, float], bool, int]:
    """Return a key by which places sort; an execution is recorded after what happened inside it."""
    return node.time, node.site.first.kind == "execution", node.site.first.index


def _accounts_for(terms: TensorSummary | None, total: TensorSummary | None) -> bool:
    """Whether as many terms are -∞ as go into the sums that are 0; all sums are of as many."""
    if terms is None or total is None or not terms.size or not total.size:
        return False
    if not terms.neg_inf or not total.zero:
        return False
    return terms.neg_inf * total.size == total.zero * terms.size


def _leads_to(parent: AlertNode, node: AlertNode) -> bool:
    """Whether a place is bad because of another one, directly or not."""
    above: AlertNode | None = parent if node.is_parent else None
    while above is not None:
        if above is node:
            return True
        above = above.parent
    return False
