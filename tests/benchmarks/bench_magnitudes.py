"""What a step costs more in which the smallest and largest elements of all tensors are recorded.

    python tests/benchmarks/bench_magnitudes.py [--programs mnist cnn ...] [--blocks 5] [--bad]

Prints a Markdown table.  What is measured is CPU time of the process, the writer's threads and the
last flush included.  In one process blocks of steps take turns: without a dump, with one that
measures no step, with one that measures each as those after the first are (few iterations of
loops), and with one that measures each as the first are.  What a measured step costs more, in steps
without a dump, is the median of those of the rounds, with the lowest and the highest.  The last
columns are what all cost that are measured up to step 200: in seconds, and as a part of what these
steps take without a dump.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any

import bench_dump

if TYPE_CHECKING:
    from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

UP_TO = 200
FIRST, LATER = 3, 14
"""How many steps up to that one are measured: at first, with many iterations of loops; later."""


def dumped(step: Any, count: int, kind: str) -> float:
    """Return the CPU milliseconds of a step in a block whose steps are dumped in one way.

    Args:
        step: The step.
        count: How many there are in the block.
        kind: The name of the `Measured` of all steps.
    """
    import tfdbg_tui
    from tfdbg_tui.dump.encode.causes import Measured
    from tfdbg_tui.dump.observe import magnitudes

    magnitudes.MeasuredSteps._due = lambda *_: Measured[kind]  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as root:
        writer = tfdbg_tui.enable_dump_debug_info(root, "ADAPTIVE", -1)
        bench_dump.step_time(step, 1, writer)  # What comes first is not to be measured.
        time = bench_dump.step_time(step, count, writer)
        tfdbg_tui.disable_dump_debug_info()
    return time


def measure(name: str, blocks: int, *, bad: bool) -> list[list[float]]:
    """Return the milliseconds of a step in each kind of block; see above."""
    import tensorflow as tf

    from tfdbg_tui.dump.encode.causes import Measured

    program = bench_dump.PROGRAMS[name]
    tf.zeros([1]).numpy()  # TensorFlow has started.
    step = program.make(bad)
    kinds: list[Callable[[Any, int], float]] = [bench_dump.step_time]
    kinds += [partial(dumped, kind=kind.name) for kind in Measured]
    for block in kinds:
        block(step, 2)
    return [[block(step, program.steps) for block in kinds] for _ in range(blocks)]


def spread(numbers: list[float]) -> str:
    """Return the median of some numbers, with the lowest and the highest."""
    return f"{statistics.median(numbers):.2f} ({min(numbers):.2f}–{max(numbers):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    programs = bench_dump.PROGRAMS
    parser.add_argument("--programs", nargs="+", default=list(programs), choices=programs)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--bad", action="store_true", help="all tensors are NaN")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.blocks, bad=args.bad)))
        return
    heads = "program", "a step, ms", "a measured step, ×", "of the first, ×"
    print(f"| {' | '.join(heads)} | up to step {UP_TO}, s | % |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in args.programs:
        if programs[name].package and not importlib.util.find_spec(programs[name].package):
            print(f"{name}: skipped, {programs[name].package} is not installed", file=sys.stderr)
            continue
        command = [sys.executable, __file__, "--one", name, "--blocks", str(args.blocks)]
        command += ["--bad"] if args.bad else []
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            print(f"{name}: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        rounds = json.loads(process.stdout.strip().splitlines()[-1])
        plain = statistics.median(none for none, *_ in rounds)
        later = [(few - off) / none for none, off, few, _ in rounds]
        first = [(many - off) / none for none, off, _, many in rounds]
        total = FIRST * statistics.median(first) + LATER * statistics.median(later)
        cells = [f"{plain:.3g}", spread(later), spread(first)]
        cells += [f"{total * plain / 1e3:.2f}", f"{total / UP_TO:.1%}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
