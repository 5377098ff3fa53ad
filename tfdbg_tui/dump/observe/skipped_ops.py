"""Op types that are not recorded as events."""

from __future__ import annotations

from tfdbg_tui.dump.tensorflow.internals import ops_tensorflow_skips

EAGER = ops_tensorflow_skips() - {"Identity"} | {"DebugNumericSummaryV2"}
"""TensorFlow's own list: control flow, and calls, whose ops are recorded instead.

An eager Identity gives its tensor a new id, so it is on record: else nobody could follow it.
"""

GRAPH = ops_tensorflow_skips() | {"PartitionedCall", "StatelessWhile", "NoOp"}
"""The same for traces of graph tensors, and the other ops that pass on what inner ops made."""
