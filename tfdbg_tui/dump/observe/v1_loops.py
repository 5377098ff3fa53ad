"""What runs in the loops of a v1 graph (made of Enter and Exit) along with the program's ops.

A tensor of a loop can only be used inside of it, and TensorFlow's Python adds to a loop whatever it
makes of its tensors, which would change the program's loop.  So the ops that look at tensors are a
function, and the op that calls it is made without Python's help.  So is a variable of the loop that
counts its iterations; it waits for what looks at tensors, so that records come in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdbg_tui.dump.observe.observed import ASSUMED_DIMENSION
from tfdbg_tui.dump.tensorflow import functions, graph_ops, own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.dump.observe.v1_control_flow import Branches, ControlFlow, Loops


class V1Loop:
    """A loop, with a variable that counts.

    Args:
        graph: The graph.
        flow: Where its ops are.
        loops: The loop, after those that it is inside of.
        serial: The number of the session's run, as it is known around the loop.
        after: What is to run before the loop.

    Attributes:
        serial: The number of the session's run, as it is known in the loop.
        inside: The loops that it is inside of.
        around: The branches that it is in.
        body: The branches that its body is in.
        done: The op that runs when the loop has ended, and all that its variable has waited for.
    """

    def __init__(
        self, graph: Any, flow: ControlFlow, loops: Loops, serial: Any, after: Sequence[Any]
    ) -> None:
        self._graph = graph
        self._flow = flow
        enter, condition = flow.enter(loops[-1]), flow.loop_condition(loops[-1])
        loop = {key: enter.get_attr(key) for key in ("frame_name", "parallel_iterations")}
        # They enter where the loop's own variables do: not at all in a branch that is not taken.
        first = [enter.inputs[0].op]
        start = self._new("Enter", graph_ops.new_number(graph, 0, [*first, *after]), **loop)
        given = self._new("Identity", serial, after=first)
        entered = self._new("Enter", given.outputs[0], is_constant=True, **loop)
        self._checks = self._new("Merge", *start.outputs, *start.outputs, N=2)
        switch = self._new("Switch", self._checks.outputs[0], condition.outputs[0])
        self._iteration = self._new("Identity", switch.outputs[1])
        self.serial = entered.outputs[0]
        self.inside = loops[:-1]
        self.around: Branches = flow.position(enter).branches
        self.body: Branches = self.around | {(condition.outputs[0].name, 1)}
        self.done = self._new("Exit", switch.outputs[0])

    def place(self, branches: Branches, after: Sequence[Any]) -> InV1Loop:
        """Return a place for ops that look at tensors of the loop.

        Args:
            branches: The branches that the tensors are in.
            after: Ops of the loop that they wait for.
        """
        counter = self._iteration if branches >= self.body else self._checks
        return InV1Loop(self._graph, counter.outputs[0], self.serial, after)

    def joined(self, ops: Sequence[Any], branches: Branches) -> Sequence[Any]:
        """Return ops that run in each iteration, and wait for others where their branch is taken.

        Args:
            ops: The others.
            branches: The branches that they are in.
        """
        for condition, side in sorted(branches - self.body, key=self._depth, reverse=True):
            taken = self._graph.get_tensor_by_name(condition)
            switch = self._new("Switch", self._iteration.outputs[0], taken)
            waited = self._new("Identity", switch.outputs[side], after=ops)
            ends = waited.outputs[0], switch.outputs[1 - side]
            ops = [self._new("Merge", *ends, N=2)]
        return ops

    def _depth(self, side: tuple[str, int]) -> int:
        """Return in how many branches a condition is asked."""
        condition = self._graph.get_tensor_by_name(side[0])
        return len(self._flow.position(condition.op).branches)

    def close(self, ends: Sequence[Any]) -> None:
        """Let an iteration begin when some ops of the one before have run, and no more be added."""
        one = graph_ops.new_number(self._graph, 1, [self._iteration])
        more = self._new("AddV2", self._iteration.outputs[0], one, after=ends)
        graph_ops.set_input(self._checks, 1, self._new("NextIteration", *more.outputs).outputs[0])

    def _new(self, op_type: str, *inputs: Any, after: Sequence[Any] = (), **attrs: Any) -> Any:
        return graph_ops.new_node(self._graph, op_type, inputs, after, T=tf.int64, **attrs)


class InV1Loop:
    """A graph of ops for a loop of a v1 graph: a function that is called where its tensors are.

    Args:
        around: The v1 graph.
        iteration: The number of the iteration, in the loop.
        serial: The number of the session's run, in the loop.
        after: Ops of the loop that what is made here waits for.

    Attributes:
        graph: The graph that ops are made in.
        iteration: As above.
        serial: What stands for it in `graph`.
    """

    drained = in_session = True
    measured = run_is_measured = None
    repeated = False
    settles = False
    counts_ops = False
    dimension = ASSUMED_DIMENSION

    def __init__(self, around: Any, iteration: Any, serial: Any, after: Sequence[Any]) -> None:
        self.graph = own.new_graph()
        self._around = around
        self._after = after
        self._inputs: dict[str, tuple[Any, Any]] = {}
        self.iteration = iteration
        self.serial = self.tensor(serial)

    def tensor(self, tensor: Any) -> Any:
        """Return the argument that stands for a tensor of the loop."""
        if tensor.name not in self._inputs:
            name, dtype = f"input_{len(self._inputs)}", tensor.dtype.base_dtype
            stand_in = graph_ops.new_input(self.graph, name, dtype, tensor.shape, tensor.device)
            self._inputs[tensor.name] = tensor, stand_in
        return self._inputs[tensor.name][1]

    def only_user(self, tensor: Any) -> Any:
        """Return None: what a session computes it of may be overwritten."""

    def called(self, sink: Any) -> Any:
        """Return the op of the v1 graph that runs a sink of this one."""
        arguments, self.graph.inputs = map(list, zip(*self._inputs.values(), strict=True))
        self.graph.control_outputs = [sink]
        return functions.call_in_v1_graph(self._around, self.graph, arguments, self._after)
