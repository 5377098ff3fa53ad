"""Which alerts go back to which, and which first one of them is a bug.

`alert_sites` gathers alerts by place, and `causes` links each place to the one that made it bad
(`nodes`).  `merging` joins first tensors of one bug (`same_bug`), and `additions` finds what an op
made bad beside what came in.  `containment` finds those that do no harm: `tolerance` is a table of
what may become of a bad tensor, `uses` one of what ops make of it (`bad_use`), for which
`questions`, `guards` and `candidates` look at comparisons.  `joints` looks at where bad values of
several first tensors meet.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.roots.causes import Causes, Health
from tfdbg_tui.diagnosis.roots.nodes import Root

__all__ = ["Causes", "Health", "Root"]
