"""tfdbg-tui: find where NaN and infinity are born in a TensorFlow program, in a terminal.

The public interface is what this module names; everything else may change::

    report = tfdbg_tui.diagnose(tfdbg_tui.open_run("/tmp/tfdbg2_logdir"))
    print(report.verdict, report.roots[0].location)

Names are resolved when first used, so that importing this package imports neither TensorFlow (which
only the dump writer needs) nor Textual (which only the app needs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.lazy import lazily

if TYPE_CHECKING:
    from tfdbg_tui import callbacks as callbacks
    from tfdbg_tui import dump as dump
    from tfdbg_tui.diagnosis import Finding as Finding
    from tfdbg_tui.diagnosis import Report as Report
    from tfdbg_tui.diagnosis import diagnose as diagnose
    from tfdbg_tui.dump import disable_dump_debug_info as disable_dump_debug_info
    from tfdbg_tui.dump import enable_dump_debug_info as enable_dump_debug_info
    from tfdbg_tui.dump import record_values as record_values
    from tfdbg_tui.dump import set_recording as set_recording
    from tfdbg_tui.dump import step as step
    from tfdbg_tui.logdir import LogdirError as LogdirError
    from tfdbg_tui.logdir import Run as Run
    from tfdbg_tui.logdir import list_runs as list_runs
    from tfdbg_tui.logdir import open_run as open_run

__version__ = "0.1.0"

_NAMES = {
    "tfdbg_tui.callbacks": ("callbacks",),
    "tfdbg_tui.diagnosis": ("Finding", "Report", "diagnose"),
    "tfdbg_tui.dump": (
        *("dump", "disable_dump_debug_info", "enable_dump_debug_info"),
        *("record_values", "set_recording", "step"),
    ),
    "tfdbg_tui.logdir": ("LogdirError", "Run", "list_runs", "open_run"),
}

__all__ = ["__version__", *(name for names in _NAMES.values() for name in names)]
__getattr__ = lazily(__name__, _NAMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
