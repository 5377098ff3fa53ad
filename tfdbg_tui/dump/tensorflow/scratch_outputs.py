"""Outputs of ops that hold no numbers of the program.

Most are there for the op's own gradient: in inference kernels leave them as they are, so that they
hold what was in that memory before, and cuDNN keeps bits in them.  That of Empty is memory to be
written to, or zeros.
"""

from __future__ import annotations

from typing import Any

from tfdbg_tui.dump.tensorflow.op_types import in_both

_BATCH_NORMS = frozenset(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))
_RECURRENT = frozenset(("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"))
_STATISTICS = (3, 4)  # in training, the mean and the variance of the batch

FIRST_SCRATCH: dict[Any, int] = {
    **dict.fromkeys(in_both(_BATCH_NORMS | _RECURRENT), 3),
    **dict.fromkeys(in_both(("Empty",)), 0),
}
"""The first such output by the type of the op, in str and bytes.

In training those that are numbers are finite wherever the outputs before them are.
"""


def is_scratch(op: Any, slot: int) -> bool:
    """Return whether an output of an op in a graph holds no numbers of the program."""
    if slot < FIRST_SCRATCH.get(op.type, slot + 1):
        return False
    is_number = op.type in _BATCH_NORMS and slot in _STATISTICS and op.get_attr("is_training")
    return not is_number
