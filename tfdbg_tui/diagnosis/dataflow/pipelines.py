"""Which graphs belong to input pipelines: they compute ahead, while steps run that use it later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.dataflow.calls import PIPELINE, Calls

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run


def pipeline_graphs(run: Run) -> frozenset[str]:
    """Return the ids of the graphs of a run's input pipelines."""
    graphs = list(run.graphs.items())
    if not any(graph.name.startswith(PIPELINE) for _, graph in graphs):
        return frozenset()
    calls = Calls(run)
    return frozenset(graph_id for graph_id, _ in graphs if calls.in_pipeline(graph_id))
