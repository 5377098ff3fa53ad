"""What the file sets of a run have in common: one numbering, one set of graphs, one buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.logdir.definitions.numbering import Numbering
from tfdbg_tui.logdir.files.chunk import ScanBuffer
from tfdbg_tui.logdir.files.problems import Problems

if TYPE_CHECKING:
    from tfdbg_tui.logdir.definitions.definitions import Stacks
    from tfdbg_tui.logdir.definitions.graphs import Graph
    from tfdbg_tui.logdir.events import ExecutionKind, Site


class Shared:
    """What all file sets of a run number or define together."""

    def __init__(self, chunk_bytes: int) -> None:
        self.problems = Problems()
        self.stacks: Stacks = Numbering()
        self.graphs: dict[str, Graph] = {}
        self.sites: Numbering[Site] = Numbering()
        self.kinds: Numbering[ExecutionKind] = Numbering()
        self.buffer = ScanBuffer(chunk_bytes)
