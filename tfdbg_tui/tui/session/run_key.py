"""By what a run is known again, in files that outlive the session."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.logdir import RunFiles


def key_of_run(files: RunFiles) -> str:
    """Return a name for a run that no other has, on this machine."""
    directory, label = files.identity
    if "://" not in directory:
        directory = os.path.realpath(directory)
    return hashlib.sha256(f"{directory}\n{label}".encode()).hexdigest()[:16]
