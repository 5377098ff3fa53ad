"""Op types that are not recorded as events."""

from __future__ import annotations

from tfdbg_tui.dump.tensorflow_hooks import TENSORFLOW_SKIPPED_OPS

EAGER = TENSORFLOW_SKIPPED_OPS | {"DebugNumericSummaryV2"}
"""TensorFlow's own list: control flow, and calls, whose ops are recorded instead."""

GRAPH = TENSORFLOW_SKIPPED_OPS | {"PartitionedCall", "StatelessWhile", "NoOp"}
"""The same for traces of graph tensors, and the other ops that pass on what inner ops made."""
