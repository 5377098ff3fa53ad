"""``python -m tfdbg_tui``: the same as the ``tfdbg-tui`` command."""

from __future__ import annotations

import sys

from tfdbg_tui.cli import main

sys.exit(main())
