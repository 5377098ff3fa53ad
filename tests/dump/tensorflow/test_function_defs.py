"""Nodes of a function need not be in the order of its ops.

Those of a loop are not once TensorFlow has frozen the function around it.
"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

from tfdbg_tui.dump.tensorflow import pruning  # noqa: E402
from tfdbg_tui.dump.tensorflow.function_defs import FunctionBody  # noqa: E402


@pytest.mark.parametrize("is_sorted", [False, True])
def test_nodes_are_found_by_the_names_of_ops(is_sorted: bool) -> None:
    @tf.function(input_signature=[tf.TensorSpec([2])])
    def program(x: Any) -> Any:
        return tf.cast(tf.size(tf.exp(x)), tf.float32) + tf.sqrt(x)

    graph = program.get_concrete_function().graph
    definition = program.get_concrete_function().function_def
    if is_sorted:
        nodes = sorted(definition.node_def, key=lambda node: node.name)
        del definition.node_def[:]
        definition.node_def.extend(nodes)
    ops = [op for op in graph.get_operations() if op.type != "Placeholder"]
    body = FunctionBody(definition, ["x"], ops, pruning.everything(definition), None)
    assert {op.name: body.node_name(op.name) for op in ops} == {op.name: op.name for op in ops}
