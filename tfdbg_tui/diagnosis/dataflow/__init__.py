"""Where tensors come from and go to: across functions, branches, loops, eager ops and variables.

`dataflow` has the answers.  Below it, `resolve` and `uses` follow a tensor of a graph back and
forth, `calls` knows which graph calls which, `timeline` which record is of which computation.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow
from tfdbg_tui.diagnosis.dataflow.links import Producer, Use

__all__ = ["Dataflow", "Producer", "Use"]
