"""Which graph calls which, and where a function's arguments and outputs are.

This project's writer records it.  TensorFlow's does not even record the call ops, so for its
logdirs everything here is a conclusion from names, order and times of creation: a function is
traced while its caller is, so the times at which graphs were built nest like a call stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.logdir import UnreadableError
from tfdbg_tui.logdir.definitions.graphs import TensorRef, parse_tensor_name

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Graph, GraphOp, Run
    from tfdbg_tui.logdir.events import ExecutionKind

_CALL_NAME = re.compile(r"(?:Stateful)?PartitionedCall(?:_(\d+))?$")
_GRADIENT_OF_CALL = re.compile(r"(?:^|/)gradients/(.*)_grad/[^/]*$")
_BACKWARD = re.compile(r"__backward_(.+)_\d+$")
_FUNCTION = re.compile(r"__(?:inference|forward)_(.+)_\d+$")

BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
PIPELINE = "Dataset_"
"""Names of the functions of `Dataset.map` and the like begin so."""
_REDUCING = "reduce_"
"""Likewise those of `Dataset.reduce`, which takes elements and gives a number."""
REDUCES_DATASET = "ReduceDataset"
_SCANS_DATASET = "ScanDataset"
CONTROL = BRANCHES | LOOPS | CALLS
_PARTS = ("cond", "body", "true", "false", "branch")


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a graph is called.

    Attributes:
        caller_id: The calling graph.
        op: The op that calls it; None where it was not recorded.
        inferred: Whether this is a conclusion.
    """

    caller_id: str
    op: GraphOp | None
    inferred: bool


class Calls:
    """The calls between the graphs of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._sites: dict[str, CallSite] = {}
        self._outermost: dict[str, str] = {}
        self._call_sites: dict[str, list[CallSite]] = {}
        self._control: dict[tuple[str, str], tuple[str, ...]] = {}
        self._children: dict[str, list[str]] = {}
        self._missing: dict[str, dict[str, float]] = {}
        self._outputs: dict[str, tuple[TensorRef, ...]] = {}
        self._arguments: dict[str, tuple[str, ...]] = {}
        self._slots: dict[str, dict[str, int]] = {}
        self._named_by: dict[str, dict[str, int]] = {}
        self._num_states: dict[str, int] = {}
        for number, kind in enumerate(run.executions.distinct_kinds):
            for graph_id in kind.called_graphs:
                self._named_by.setdefault(graph_id, {})[kind.op_type] = number
        for graph in list(run.graphs.values()):
            for op in list(graph.ops.values()):
                if op.called_graphs or op.op_type in CONTROL:
                    self._add_op(graph, op)
        self._nest()

    def call_site(self, graph_id: str) -> CallSite | None:
        """Return where a graph is called by another graph; None for one called from Python."""
        return self._sites.get(graph_id)

    def call_sites(self, graph_id: str) -> list[CallSite]:
        """Return all recorded ops that call a graph."""
        return self._call_sites.get(graph_id, [])

    def outermost(self, graph_id: str) -> str:
        """Return the graph that Python called to get to this one."""
        path: dict[str, None] = {}
        while graph_id not in self._outermost:
            path[graph_id] = None
            site = self._sites.get(graph_id)
            if site is None or site.caller_id in path:
                self._outermost[graph_id] = graph_id
            else:
                graph_id = site.caller_id
        found = self._outermost[graph_id]
        self._outermost.update(dict.fromkeys(path, found))
        return found

    def function_around(self, graph_id: str) -> str:
        """Return the function that a graph is of: a branch or loop is of the one around it."""
        seen = set()
        while graph_id not in seen:  # a damaged dump may hold a circle
            seen.add(graph_id)
            site = self._sites.get(graph_id)
            if site is not None and site.op is not None and site.op.op_type in BRANCHES | LOOPS:
                graph_id = site.caller_id
        return graph_id

    def in_pipeline(self, graph_id: str) -> bool:
        """Whether a graph belongs to an input pipeline (``Dataset.map`` and the like).

        What its functions give back comes out of the pipeline's iterator: it is made ahead, while
        steps run that use it later.
        """
        outermost = self.outermost(graph_id)
        if outermost in self._named_by:
            return bool(self._named_by[outermost].keys() - {REDUCES_DATASET})
        graph = self._run.graphs.get(outermost)
        return graph is not None and graph.name.startswith(PIPELINE)

    def takes_elements(self, graph_id: str) -> bool:
        """Whether a graph is a function that takes the elements of a dataset.

        Which functions a dataset is made of outside of graphs, TensorFlow's writer does not record.
        """
        types = {site.op.op_type for site in self.call_sites(graph_id) if site.op is not None}
        types |= self.named_by(graph_id).keys()
        if types or self._named_by:
            return any("Dataset" in op_type for op_type in types)
        return self._run.graphs[graph_id].name.startswith((PIPELINE, _REDUCING))

    def named_by(self, graph_id: str) -> dict[str, int]:
        """Return the types of the eager ops that a graph is given to, and the numbers of kinds."""
        return self._named_by.get(graph_id, {})

    def num_states(self, graph_id: str) -> int:
        """Return how many first arguments of a function are what its last call has returned first.

        They are the state of a function that scans or reduces a dataset.
        """
        known = self._num_states.get(graph_id)
        if known is None:
            known = self._num_states[graph_id] = self._find_num_states(graph_id)
        return known

    def called_graphs(self, op: GraphOp) -> tuple[str, ...]:
        """Return the graphs that an op calls: branches; condition and body; the function."""
        return self._control.get((op.graph_id, op.name), ())

    def callee(self, graph_id: str, op_name: str) -> str | None:
        """Return the graph behind a call op that was not recorded, from its name."""
        children = self._children.get(graph_id, [])
        match = _CALL_NAME.search(op_name)
        if match is None or not children:
            return None
        gradient = _GRADIENT_OF_CALL.search(op_name)
        if gradient is not None:
            return self._backward_callee(graph_id, gradient[1], children)
        missing = self._missing_ops(graph_id)
        limit = missing.get(op_name, float("inf"))
        scopes = {name.rpartition("/")[0] for name in missing}
        number = int(match[1] or 0)
        if len(scopes) <= 1 and number < len(children):
            child = children[number]
            if _built(self._run.graphs[child])[1] <= limit:
                return child
        before = [child for child in children if _built(self._run.graphs[child])[1] <= limit]
        return before[-1] if before else None

    def unrecorded_callees(self, graph_id: str) -> tuple[str, ...]:
        """Return the graphs that a graph calls by ops that were not recorded, in order."""
        return tuple(self._children.get(graph_id, ()))

    def call_names(self, caller_id: str, graph_id: str) -> list[str]:
        """Return names of call ops in a graph that were not recorded and call another graph."""
        names = list(self._missing_ops(caller_id))
        return [name for name in names if self.callee(caller_id, name) == graph_id]

    def loose_outputs(self, graph_id: str, before: float) -> list[tuple[float, TensorRef]]:
        """Return first outputs of call ops that were not recorded and that no recorded op uses.

        Each comes with the time when the called function was finished, which is before `before`.
        """
        loose = []
        for number, child in enumerate(self._children.get(graph_id, [])):
            name = "StatefulPartitionedCall" + (f"_{number}" if number else "")
            end = _built(self._run.graphs[child])[1]
            if end < before and not self._run.graphs[graph_id].consumers(name):
                loose.append((end, TensorRef(name, 0)))
        return loose

    def may_call_unrecorded(self, graph_id: str) -> bool:
        """Whether call ops that were not recorded may use a graph's tensors."""
        return bool(self._children.get(graph_id)) or bool(self._missing_ops(graph_id))

    def outputs(self, graph_id: str, function_name: str = "") -> tuple[TensorRef, ...]:
        """Return the tensors behind a function's outputs, in order; none of an unknown graph.

        Args:
            graph_id: The function's graph.
            function_name: Runtime name: the forward variant of a function has more outputs, the
                values that its gradient needs.
        """
        graph = self._run.graphs.get(graph_id)
        if graph is None:
            return ()
        for signature in graph.signatures:
            if signature.function_name == function_name:
                return tuple(map(parse_tensor_name, signature.output_names))
        known = self._outputs.get(graph_id)
        if known is None:
            known = self._outputs[graph_id] = self._find_outputs(graph)
        return known

    def arguments(self, graph_id: str) -> tuple[str, ...]:
        """Return the names of a function's argument ops, captured tensors last."""
        known = self._arguments.get(graph_id)
        if known is None:
            graph = self._run.graphs[graph_id]
            if graph.signatures:
                names = graph.signatures[0].input_names
                known = tuple(parse_tensor_name(name).op_name for name in names)
            else:
                ops = list(graph.ops.values())
                known = tuple(op.name for op in ops if op.op_type == "Placeholder")
            self._arguments[graph_id] = known
        return known

    def argument_slot(self, graph_id: str, name: str) -> int | None:
        """Return which argument of a function an op is, or None."""
        slots = self._slots.get(graph_id)
        if slots is None:
            names = self.arguments(graph_id)
            slots = self._slots[graph_id] = {names[i]: i for i in reversed(range(len(names)))}
        return slots.get(name)

    def is_used(self, graph_id: str, argument: str) -> bool:
        """Whether a function does anything with an argument."""
        outputs = (ref.op_name for ref in self.outputs(graph_id))
        return bool(self._run.graphs[graph_id].consumers(argument)) or argument in outputs

    def given(self, argument: GraphOp, call: GraphOp) -> TensorRef | None:
        """Return the input of an op that becomes an argument of a graph that it calls.

        Args:
            argument: A Placeholder of the called graph.
            call: The call, If, While or dataset's op.
        """
        slot = self.argument_slot(argument.graph_id, argument.name)
        if slot is not None and "Dataset" in call.op_type:
            return self._given_to_dataset(argument.graph_id, slot, call)
        if slot is None:
            return None
        inputs = call.inputs
        if call.op_type in BRANCHES:
            inputs = inputs[1:]  # The first one chooses the branch.
            if not self._run.graphs[argument.graph_id].signatures:
                # Branches are given the same arguments only after they were built: the order of
                # creation says little, but each is named after the tensor that it stands for.
                name = "/" + argument.name
                named = [ref for ref in inputs if name.endswith("/" + ref.op_name)]
                if named:
                    return max(named, key=lambda ref: len(ref.op_name))
        return inputs[slot] if slot < len(inputs) else None

    def forward_graph(self, graph_id: str) -> str | None:
        """Return the graph whose gradient a graph computes, or None."""
        graph = self._run.graphs[graph_id]
        for signature in graph.signatures:
            if signature.forward_graph_id in self._run.graphs:
                return signature.forward_graph_id
        match = _BACKWARD.match(graph.name)
        if match is None:
            return None
        outer = self._run.graphs.get(graph.outer_id or "")
        if outer is not None and outer.name == match[1]:
            return outer.graph_id
        start = _built(graph)[0]
        named = [
            g
            for g in list(self._run.graphs.values())
            if g.name == match[1] and _built(g)[0] < start
        ]
        return max(named, key=_built).graph_id if named else None

    def forward_tensor(self, graph_id: str, placeholder: str) -> tuple[str, TensorRef] | None:
        """Return graph and tensor of the forward value that a backward function's argument holds.

        Such an argument is named after the tensor: ``gradients/Log_grad/Reciprocal/probs``.
        """
        forward_id = self.forward_graph(graph_id)
        if forward_id is None:
            return None
        forward = self._run.graphs[forward_id]
        parts = placeholder.split("/")
        if len(parts) > 1 and _CALL_NAME.search(parts[-1]) and _CALL_NAME.match(parts[-2][:-5]):
            return None  # one of the values that a nested forward function kept: which is not told
        for start in range(1, len(parts)):
            name = "/".join(parts[start:])
            for candidate in (name, re.sub(r"_\d+$", "", name)):
                if candidate in forward.ops or candidate in self._missing_ops(forward_id):
                    return forward_id, TensorRef(candidate, 0)
        return None

    def function_graphs(self, function_name: str) -> tuple[str, ...]:
        """Return the graphs that may be behind an executed function's runtime name."""
        recorded = self._run.function_graph(function_name)
        if recorded is not None:
            return (recorded,)
        match = _FUNCTION.match(function_name)
        if match is None:
            return ()
        return tuple(g.graph_id for g in list(self._run.graphs.values()) if g.name == match[1])

    def executed_graphs(self, kind: ExecutionKind) -> tuple[str, ...]:
        """Return the graphs that executions of a kind may have run: as recorded, or by its name."""
        return (kind.graph_id,) if kind.graph_id else self.function_graphs(kind.op_type)

    def _add_op(self, graph: Graph, op: GraphOp) -> None:
        called = op.called_graphs or self._guess_called(graph, op)
        self._control[graph.graph_id, op.name] = called
        for graph_id in called:
            if graph_id in self._run.graphs:
                site = CallSite(graph.graph_id, op, inferred=not op.called_graphs)
                self._sites.setdefault(graph_id, site)
                self._call_sites.setdefault(graph_id, []).append(site)

    def _guess_called(self, graph: Graph, op: GraphOp) -> tuple[str, ...]:
        """Find branch and body graphs: named after the op, else those built right before it."""
        inner = [self._run.graphs[i] for i in list(graph.inner_ids) if i in self._run.graphs]
        named = _named_after(op, inner)
        if len(named) > 1:
            return named
        free = [g for g in inner if g.graph_id not in self._sites and _built(g)[1] <= op.wall_time]
        pair = sorted(free, key=_built)[-2:]
        if op.op_type in LOOPS:
            pair.sort(key=lambda g: "_cond_" not in g.name)
        return tuple(g.graph_id for g in pair)

    def _nest(self) -> None:
        """Find the callers of the functions whose call ops were not recorded."""
        graphs = [g for g in list(self._run.graphs.values()) if g.outer_id and g.ops]
        stack: list[Graph] = []
        for graph in sorted(graphs, key=lambda g: (_built(g)[0], -_built(g)[1])):
            while stack and _built(stack[-1])[1] < _built(graph)[1]:
                stack.pop()
            site = self._sites.get(graph.graph_id)
            if site is None and stack and graph.name != "tmp":
                caller_id = stack[-1].graph_id
                self._sites[graph.graph_id] = CallSite(caller_id, None, inferred=True)
                self._children.setdefault(caller_id, []).append(graph.graph_id)
            stack.append(graph)

    def _missing_ops(self, graph_id: str) -> dict[str, float]:
        """Return names that only occur as inputs of ops, each with the time of its first use."""
        known = self._missing.get(graph_id)
        if known is None:
            known = {}
            graph = self._run.graphs[graph_id]
            for op in list(graph.ops.values()):
                for ref in op.inputs:
                    if ref.op_name not in graph.ops:
                        known.setdefault(ref.op_name, op.wall_time)
            self._missing[graph_id] = known
        return known

    def _given_to_dataset(self, graph_id: str, slot: int, call: GraphOp) -> TensorRef | None:
        """Return the input of a dataset's op that becomes an argument of its only function.

        It takes another dataset, the first state, and what the function captures; the function
        takes the state, the parts of an element, and what it captures.

        Args:
            graph_id: The graph of the function.
            slot: Which argument it is.
            call: The op.
        """
        if len(self.called_graphs(call)) != 1:
            return None
        states = self.num_states(graph_id)
        first_captured = len(self.arguments(graph_id)) - self._num_captured(graph_id)
        if states <= slot < first_captured:
            return None  # of an element
        place = 1 + (slot if slot < states else states + slot - first_captured)
        return call.inputs[place] if place < len(call.inputs) else None

    def _find_num_states(self, graph_id: str) -> int:
        sites = [site.op for site in self.call_sites(graph_id) if site.op is not None]
        inputs = {op.op_type: len(op.inputs) for op in sites}
        inputs |= {name: self._num_inputs(n) for name, n in self.named_by(graph_id).items()}
        if REDUCES_DATASET in inputs:
            return len(self.outputs(graph_id))
        if _SCANS_DATASET not in inputs:
            return 0
        return max(0, inputs[_SCANS_DATASET] - 1 - self._num_captured(graph_id))

    def _num_inputs(self, kind_number: int) -> int:
        """Return how many inputs the executions of a kind have; 0 where that cannot be read."""
        executions = self._run.executions
        row = int(executions.kinds.rows_equal(kind_number)[0])
        try:
            return len(executions.input_tensor_ids(row))
        except UnreadableError:
            return 0

    def _num_captured(self, graph_id: str) -> int:
        """Return how many tensors a function captures."""
        graph = self._run.graphs.get(graph_id)
        signatures = graph.signatures if graph is not None else ()
        return len(signatures[0].captured_tensor_ids) if signatures else 0

    def _backward_callee(self, graph_id: str, call: str, children: list[str]) -> str | None:
        forward_id = self.forward_graph(graph_id)
        callee = self.callee(forward_id, call) if forward_id else None
        found = [child for child in children if self.forward_graph(child) == callee]
        return found[-1] if found and callee else None

    def _find_outputs(self, graph: Graph) -> tuple[TensorRef, ...]:
        if graph.signatures:
            # A forward variant has the function's own outputs and, after them, kept values.
            longest = max(graph.signatures, key=lambda signature: len(signature.output_names))
            return tuple(map(parse_tensor_name, longest.output_names))
        unused = [
            op.name
            for op in list(graph.ops.values())
            if op.op_type == "Identity" and not graph.consumers(op.name)
        ]
        return tuple(TensorRef(name, 0) for name in unused)


def _named_after(op: GraphOp, graphs: list[Graph]) -> tuple[str, ...]:
    """Return the graphs that are named after an op and their part in it, in the op's order.

    TensorFlow calls them ``cond_true_7``, ``cond_false_8``; ``while_cond_3``, ``while_body_4``;
    ``indexed_case_branch0_5``, ``indexed_case_branch1_6``.
    """
    prefix = re.escape(op.name.replace("/", "_"))
    found: dict[tuple[int, int], Graph] = {}
    for graph in sorted(graphs, key=_built):  # of several, the one that was built last
        match = re.fullmatch(rf"{prefix}_([a-z]+)(\d*)_\d+", graph.name)
        if match is not None and match[1] in _PARTS:
            found[_PARTS.index(match[1]), int(match[2] or 0)] = graph
    return tuple(found[part].graph_id for part in sorted(found))


def _built(graph: Graph) -> tuple[float, float]:
    """Return when the first and the last op of a graph were created."""
    if not graph.ops:
        return 0.0, 0.0
    return next(iter(graph.ops.values())).wall_time, next(reversed(graph.ops.values())).wall_time
