"""What a step costs more in which the smallest and largest elements of all tensors are recorded.

    python tests/benchmarks/bench_magnitudes.py [--programs mnist cnn ...] [--blocks 5]

Prints a Markdown table.  What is measured is CPU time of the process, the writer's threads and the
last flush included.  In one process blocks of steps take turns: without a dump, with one that
measures no step, and with one that measures each.  What a measured step costs more, in steps
without a dump, is the median of those of the rounds, with the lowest and the highest.
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
from typing import Any

import bench_dump

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def block(step: Any, count: int, every: int | None) -> float:
    """Return the CPU milliseconds of a step in a block with a dump; without one for None."""
    import tfdbg_tui

    if every is None:
        return bench_dump.step_time(step, count)
    with tempfile.TemporaryDirectory() as root:
        writer = tfdbg_tui.enable_dump_debug_info(root, "ADAPTIVE", -1, magnitudes_every=every)
        bench_dump.step_time(step, 1, writer)  # What comes first is not to be measured.
        time = bench_dump.step_time(step, count, writer)
        tfdbg_tui.disable_dump_debug_info()
    return time


def measure(name: str, blocks: int) -> list[list[float]]:
    """Return the milliseconds of a step without a dump, with one, and of a measured one."""
    import tensorflow as tf

    program = bench_dump.PROGRAMS[name]
    tf.zeros([1]).numpy()  # TensorFlow has started.
    kinds = (None, 0, 1)
    step = program.make(False)
    for every in kinds:
        block(step, 2, every)
    return [[block(step, program.steps, every) for every in kinds] for _ in range(blocks)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    programs = bench_dump.PROGRAMS
    parser.add_argument("--programs", nargs="+", default=list(programs), choices=programs)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.blocks)))
        return
    print("| program | a step, CPU ms | with a dump, × | a measured step costs more, × |")
    print("|---|--:|--:|--:|")
    for name in args.programs:
        if programs[name].package and not importlib.util.find_spec(programs[name].package):
            print(f"{name}: skipped, {programs[name].package} is not installed", file=sys.stderr)
            continue
        command = [sys.executable, __file__, "--one", name, "--blocks", str(args.blocks)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            print(f"{name}: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        rounds = json.loads(process.stdout.strip().splitlines()[-1])
        plain = statistics.median(none for none, _, _ in rounds)
        dumped = statistics.median(some / none for none, some, _ in rounds)
        more = [(each - some) / none for none, some, each in rounds]
        cell = f"{statistics.median(more):.2f} ({min(more):.2f}–{max(more):.2f})"
        print(f"| {name} | {plain:.3g} | {dumped:.2f} | {cell} |", flush=True)


if __name__ == "__main__":
    main()
