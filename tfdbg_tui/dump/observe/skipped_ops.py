"""Op types that are not recorded as events."""

from __future__ import annotations

from tfdbg_tui.dump.tensorflow.graph_ops import SKIPPED_BY_TENSORFLOW

EAGER = SKIPPED_BY_TENSORFLOW - {"Identity"} | {"DebugNumericSummaryV2"}
"""TensorFlow's own list: control flow, and calls, whose ops are recorded instead.

An eager Identity gives its tensor a new id, so it is on record: else nobody could follow it.
"""

_ARRAYS = (
    *("TensorArrayV3", "TensorArrayGradV3", "TensorArrayWriteV3", "TensorArrayScatterV3"),
    *("TensorArraySplitV3", "StackPushV2", "StackPopV2"),
)
"""What keeps the values of loops of TensorFlow 1: some make a number that only stands for them."""

_OF_REFERENCES = ("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch")
"""Control flow that hands on the memory of variables.  What enters a loop is not in it before, and
of what a branch begins with, one is not there."""

GRAPH = SKIPPED_BY_TENSORFLOW | {
    *("PartitionedCall", "StatelessWhile", "NoOp"),
    *(*_ARRAYS, *_OF_REFERENCES),
}
"""The same for traces of graph tensors, and the other ops that pass on what inner ops made."""
