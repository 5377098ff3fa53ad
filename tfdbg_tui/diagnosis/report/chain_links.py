"""From tensor to tensor: how a bad value got from its root to where it is seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tfdbg_tui.diagnosis.events import graph_id_of, name_of, op_type_of
from tfdbg_tui.diagnosis.op_traits import MOVES
from tfdbg_tui.diagnosis.roots import Health
from tfdbg_tui.diagnosis.values import bad_kinds, counts_dict, explains

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.dataflow import Dataflow, Producer
    from tfdbg_tui.diagnosis.events import TensorEvent
    from tfdbg_tui.diagnosis.roots import Causes, Root
    from tfdbg_tui.logdir import TensorSummary

_LONGEST = 400
_INPUTS = 3


@dataclass(frozen=True, slots=True)
class Link:
    """A tensor on the chain.

    Attributes:
        event: The event that made it.
        name: ``op_name:slot``, or ``op_type:slot`` outside of graphs.
        op_type: Type of the op, where known.
        graph: Name of the op's graph; None outside.
        summary: What was recorded of its values.
        inferred: Whether the step to it from the one before is a conclusion.
        via: How the value got from the one before to it, as in `Producer`.
        passes_on: Whether the op only moves or clips values.
        failed: Whether it raised an error in place of that.
    """

    event: TensorEvent
    name: str
    op_type: str | None
    graph: str | None
    summary: TensorSummary | None
    inferred: bool
    via: str
    passes_on: bool
    failed: bool = False

    @property
    def is_bad(self) -> bool:
        """Whether it holds a NaN or an infinity, as far as is recorded."""
        return bool(self.summary is not None and self.summary.has_inf_or_nan)

    def to_json(self) -> dict[str, Any]:
        """Return it in the form of ``diagnose --json``."""
        return {
            "kind": self.event.kind,
            "index": self.event.index,
            "name": self.name,
            "op_type": self.op_type,
            "graph": self.graph,
            "dtype": self.summary.dtype if self.summary else None,
            "shape": self.summary.shape if self.summary else None,
            "counts": counts_dict(self.summary),
            "via": self.via,
            "inferred": self.inferred,
        }


class Links:
    """Finds the tensors that lead to others of a run.

    Args:
        dataflow: Where tensors come from and go to.
        causes: The roots of its alerts.
    """

    def __init__(self, dataflow: Dataflow, causes: Causes) -> None:
        self._run = dataflow.run
        self._dataflow = dataflow
        self._causes = causes

    def to(self, event: TensorEvent) -> tuple[Link, ...]:
        """Return the links to a tensor: inputs of the root first, the tensor itself last.

        A tensor that is not bad has its inputs before it and nothing else.
        """
        steps = [(event, False, "")]
        seen = {event}
        while len(steps) < _LONGEST:
            source = self._bad_source(steps[-1][0])
            if source is None or source[0] in seen:
                break
            # The last tensor so far came from this one: that is how it is linked to it.
            steps[-1] = (steps[-1][0], *source[1:])
            steps.append((source[0], False, ""))
            seen.add(source[0])
        root = steps[-1][0]
        inputs = self._inputs(root)
        steps[-1] = (root, any(producer.inferred for producer in inputs.values()), "")
        links = [self.taken(*one) for one in inputs.items()]
        return (*links, *(self.link(*step) for step in reversed(steps)))

    def of_root(self, root: Root) -> tuple[Link, ...]:
        """Return the links from a root to a result, a loss or a variable that shows it."""
        for node in root.members:
            if node.site.first.kind == "execution" and node is not root.node:
                chain = self.to(node.site.first)
                leap = any(link.via == "earlier" for link in chain)
                if not leap and any(link.event == root.event for link in chain):
                    return chain
        path = [root.node]
        for _ in range(_LONGEST):
            children = [n for n in root.members if n.parent is path[-1]]
            if not children:
                break
            path.append(min(children, key=lambda n: n.inferred))
        # Later runs of one of these places may have been bad because of another root.
        chains = (self.to(node.site.first) for node in reversed(path))
        return next(chain for chain in chains if any(link.event == root.event for link in chain))

    def link(self, event: TensorEvent, inferred: bool, via: str) -> Link:
        """Return a tensor as a link.

        Args:
            event: The tensor.
            inferred: Whether that it leads on is a conclusion.
            via: How it came here, as in `Producer`.
        """
        graph = self._run.graphs.get(graph_id_of(self._run, event) or "")
        op_type = op_type_of(self._run, event)
        return Link(
            event=event,
            name=name_of(self._run, event),
            op_type=op_type,
            graph=graph.name if graph else None,
            summary=self._causes.summary(event),
            inferred=inferred,
            via=via,
            passes_on=op_type in MOVES,
            failed=event.kind == "execution" and bool(self._run.executions[event.index].error),
        )

    def _bad_source(self, event: TensorEvent) -> tuple[TensorEvent, bool, str] | None:
        """Return the bad tensor that an event was made bad by."""
        node = self._causes.node_of(event)
        if node is not None and node.site.first == event and node.parent is None:
            return None
        parent = node.parent if node is not None else None
        kinds = node.site.kinds if node else bad_kinds(self._causes.summary(event))
        bad: list[tuple[TensorEvent, Producer]] = [
            (producer.event, producer)
            for producer in self._dataflow.producers(event)
            if producer.event and self._causes.health(event, producer) is Health.BAD
        ]
        if bad:
            source, producer = max(
                bad,
                key=lambda pair: (
                    parent is not None and self._causes.node_of(pair[0]) is parent,
                    explains(self._causes.summary(pair[0]), kinds),
                ),
            )
            if producer.via == "variable":
                # Not through all the steps of a training: to the first one that went wrong.
                earlier = self._causes.node_of(source)
                source = earlier.site.first if earlier else source
            return source, producer.inferred, producer.via
        if node is None:
            return None
        if node.site.first != event:
            return node.site.first, True, "earlier"
        return (parent.site.first, True, "earlier") if parent else None

    def _inputs(self, event: TensorEvent) -> dict[TensorEvent, Producer]:
        """Return the finite inputs of a root by their origin, each once."""
        finite: dict[TensorEvent, Producer] = {}
        for producer in self._dataflow.producers(event):
            if producer.event and self._causes.health(event, producer) is Health.FINITE:
                finite.setdefault(self._dataflow.origin(producer.event), producer)
        return dict(list(finite.items())[:_INPUTS])

    def taken(self, event: TensorEvent, producer: Producer) -> Link:
        """Return an input as a link, with what is recorded of it where the op took it.

        That may be more than where it was made: the inputs of bad eager ops are described, and in
        adaptive mode the inputs of what is bad in a graph are counted.

        Args:
            event: The input, or the tensor that it is a copy of.
            producer: What the op took.
        """
        link = self.link(event, False, "")
        return replace(
            link, summary=max(link.summary, self._causes.input_summary(producer), key=_tells)
        )


def _tells(summary: TensorSummary | None) -> tuple[bool, bool, bool]:
    """Return a key by which summaries sort that tell more and more of the same values."""
    if summary is None:
        return False, False, False
    return True, summary.zero is not None, summary.minimum is not None
