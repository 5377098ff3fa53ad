"""What the lines of Graph Structure say where a value crosses into another function or a variable.

Names come from the logdir: whoever draws them makes them safe.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import BRANCHES, LOOPS

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Node
    from tfdbg_tui.tui.session.snapshot import Snapshot

_HANDLE = re.compile(r"/?(ReadVariableOp|resource|readvariableop_resource|_resource)(?=/|$|_\d)")


def boundary_words(snapshot: Snapshot, node: Node) -> str:
    """Return what a boundary is: ``call loss(probs)``, ``loss returns``, ``variable w, step 7``."""
    if node.kind == "variable":
        return _variable(snapshot, node)
    return _argument(snapshot, node) if node.kind == "argument" else _result(snapshot, node)


def _argument(snapshot: Snapshot, node: Node) -> str:
    function = snapshot.graph_name(node.graph_id)
    site = snapshot.dataflow.calls.call_site(node.graph_id or "")
    called_by = site.op.op_type if site is not None and site.op is not None else None
    if called_by in LOOPS:
        iteration = node.at.iteration if node.at else None
        number = "" if iteration is None else f" {iteration:,}"
        return f"iteration{number} of {function}({node.name})"
    verb = "branch" if called_by in BRANCHES else "call" if site is not None else "Python calls"
    return f"{verb} {function}({node.name})"


def _result(snapshot: Snapshot, node: Node) -> str:
    calls = snapshot.dataflow.calls
    if node.graph_id is None:
        graphs = calls.function_graphs(node.name)
        function = snapshot.graph_name(graphs[-1]) if graphs else node.name
        return f"{function} returns{_number(node, _outputs(snapshot, node))}"
    op = snapshot.run.op(node.graph_id, node.name)
    if op is None:
        callee = calls.callee(node.graph_id, node.name)
        return f"{snapshot.graph_name(callee)} returns"
    if op.op_type in BRANCHES | LOOPS:
        return f"{node.name} returns{_number(node, op.num_outputs)}"
    callee = calls.called_graphs(op)[0]
    return f"{snapshot.graph_name(callee)} returns{_number(node, op.num_outputs)}"


def _outputs(snapshot: Snapshot, node: Node) -> int:
    return snapshot.run.executions.kind(node.event.index).num_outputs if node.event else 1


def _number(node: Node, outputs: int) -> str:
    return f" output {node.slot}" if node.slot is not None and outputs > 1 else ""


def _variable(snapshot: Snapshot, node: Node) -> str:
    step = snapshot.step(node.event) if node.event else None
    scope = _HANDLE.sub("", node.name).strip("/")
    words = f"variable {node.name}"
    # Only of variables of layers and optimizers names are on record.
    if node.name == "variable" or not scope:
        words = "variable"
    elif scope != node.name:
        words = f"variable read in {scope}"
    return words + ("" if step is None else f", step {step:,}")
