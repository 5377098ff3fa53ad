"""A plugin for pytest: switches a dump on before the tests of a package are imported."""

from __future__ import annotations

import os

import tfdbg_tui


def pytest_configure() -> None:
    logdir = os.environ.get("TFDBG_OWN_TESTS")
    if logdir:
        tfdbg_tui.enable_dump_debug_info(logdir, "ADAPTIVE", -1)
