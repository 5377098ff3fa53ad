"""tfdbg-tui: find where NaN and infinity are born in a TensorFlow program, in a terminal.

Public names are resolved when first used, so that importing this package imports neither
TensorFlow (which only the dump writer needs) nor Textual (which only the app needs).
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "open_run": "tfdbg_tui.logdir",
    "list_runs": "tfdbg_tui.logdir",
    "enable_dump_debug_info": "tfdbg_tui.dump",
    "disable_dump_debug_info": "tfdbg_tui.dump",
    "step": "tfdbg_tui.dump",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
