"""Where a chain began, if another process of the job made its root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import origin_of
from tfdbg_tui.tui.session.focus import OtherProcess

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis import Chain
    from tfdbg_tui.tui.session.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ChainOrigin:
    """The root that a chain of this process goes back to.

    Attributes:
        process: The process that made it, and what to show there.
        worker: Name of the process, as "worker 1".
        names: The tensors of its chain there, as far as to the root.
    """

    process: OtherProcess
    worker: str
    names: tuple[str, ...]


def chain_origin(snapshot: Snapshot, chain: Chain) -> ChainOrigin | None:
    """Return where a chain began; None where this process made its root."""
    job = snapshot.job
    if job is None or chain.finding is None:
        return None
    root, via = origin_of(job.report, snapshot.worker, chain.finding.event) or (None, None)
    if root is None or via is None:
        return None
    number, position, _ = root.links[0]
    finding = root.finding
    kind = "trace" if finding["kind"] == "graph_execution" else "exec"
    target = f"{kind}:{finding['index']}" if position else ""
    names = [link["name"] for link in finding["chain"]]
    op = f"{finding['op_name'] or finding['op_type']}:"
    end = next((i for i, name in enumerate(names, 1) if name.startswith(op)), 1)
    return ChainOrigin(OtherProcess(number, target), job.name_of(number), tuple(names[:end]))
