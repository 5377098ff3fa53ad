"""Which alerts go back to which, and which first one of them is a bug.

`alert_sites` gathers alerts by place, `causes` links each place to the one that made
it bad, `merging` joins first tensors of one bug, and `containment` finds those that do no harm.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.roots.causes import Causes, Health
from tfdbg_tui.diagnosis.roots.merging import Node, Root

__all__ = ["Causes", "Health", "Node", "Root"]
