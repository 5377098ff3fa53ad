"""Programs of TensorFlow that are run with a dump, and what is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tfdbg_tui

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def first_root(root: Path, program: Callable[[], object]) -> Any:
    """Return the first root of a program, whose dump is written to a directory."""
    tfdbg_tui.enable_dump_debug_info(str(root), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.diagnose(tfdbg_tui.open_run(root)).roots[0]
