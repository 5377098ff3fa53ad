"""Where tensors come from and go to: across functions, branches, loops, eager ops and variables.

`dataflow` has the answers.  `resolve` and `uses` follow a tensor of a graph back and forth until
something is recorded; `neighbours` goes one step, to the next op or boundary, as a user does.  What
a tensor is called on the other side of a boundary they learn from `calls`, by the graphs alone, and
`crossings`, where in time as well; `timeline` knows which record is of which computation.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.links import Producer, Use

__all__ = ["Dataflow", "Producer", "Use"]
