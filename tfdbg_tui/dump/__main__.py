"""Run an unmodified program under the dump writer: ``python -m tfdbg_tui.dump SCRIPT [ARGS]``.

``tfdbg-tui run`` starts programs through this module, in a process of their own.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from typing import TYPE_CHECKING

from tfdbg_tui.dump import enable_for_program, steps

if TYPE_CHECKING:
    from types import TracebackType

_NOT_THE_PROGRAM = (__file__, runpy.run_path.__code__.co_filename, "<frozen runpy>")


def main(argv: list[str]) -> None:
    """Enable the dump writer, then run a program as ``python`` would."""
    parser = argparse.ArgumentParser(prog="python -m tfdbg_tui.dump", description=__doc__)
    parser.add_argument("--dump-root", required=True, metavar="DIR")
    parser.add_argument("--tensor-debug-mode", default="ADAPTIVE", metavar="MODE")
    parser.add_argument("--circular-buffer-size", type=int, default=-1, metavar="EVENTS")
    parser.add_argument("--op-regex", metavar="REGEX")
    parser.add_argument("--every", type=int, default=1, metavar="STEPS")
    parser.add_argument("--on-bad", choices=("continue", "raise"), default="continue")
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS")
    options = parser.parse_args(argv)
    enable_for_program(
        options.dump_root,
        tensor_debug_mode=options.tensor_debug_mode,
        circular_buffer_size=options.circular_buffer_size,
        op_regex=options.op_regex,
        every=options.every,
        on_bad=options.on_bad,
    )
    steps.mark_keras_steps()
    sys.excepthook = _show_error
    sys.argv = [options.script, *options.arguments]
    if options.is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.script, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.script))
        runpy.run_path(options.script, run_name="__main__")


def _show_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an error of the program as `python` does: from the program's own first frame on."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _NOT_THE_PROGRAM:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    main(sys.argv[1:])
