"""Which alerts go back to which, and which first one of them is a bug.

`alert_sites` gathers alerts by place, `causes` links each place to the one that made
it bad (`nodes`), `merging` joins first tensors of one bug, `containment` finds those that do no
harm, and `joints` looks at where bad values of several meet.
"""

from __future__ import annotations

from tfdbg_tui.diagnosis.roots.causes import Causes, Health
from tfdbg_tui.diagnosis.roots.nodes import Node, Root

__all__ = ["Causes", "Health", "Node", "Root"]
