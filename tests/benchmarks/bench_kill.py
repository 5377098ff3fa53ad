"""What a program that is killed loses of its dump, in every mode.

    python tests/benchmarks/bench_kill.py [--modes ADAPTIVE FULL_TENSOR ...] [--kills 5]

A program says after each step that it is done; after some seconds it is killed with SIGKILL.  What
it loses is the time between the last step that it was done with and the last step on record.
Prints a Markdown table: the median and the most of all kills, in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import tfdbg_tui

if TYPE_CHECKING:
    from tfdbg_tui.logdir import Run

MODES = (
    *("ADAPTIVE", "NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH"),
    *("SHAPE", "FULL_TENSOR"),
)

PROGRAM = """
import itertools, os, sys, tensorflow as tf, tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], sys.argv[2], -1)
weights = tf.Variable(tf.random.normal([256, 256]) / 16.0)

@tf.function
def predict(x):
    for _ in range(5):
        x = tf.tanh(tf.matmul(x, weights))
    return x

for number in itertools.count():
    with tfdbg_tui.step(number):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(predict(tf.ones([64, 256])) ** 2.0)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
    os.write(1, b"%d\\n" % number)
"""


def steps_on_record(run: Run) -> int:
    """Return the number of the first step that is not whole on record."""
    return max(
        (run.executions[index].step or 0 for index in range(len(run.executions))[-50:]), default=0
    )


def lost(mode: str, seconds: float) -> tuple[float, int]:
    """Return the milliseconds and the steps that a program loses when it is killed."""
    with tempfile.TemporaryDirectory() as root:
        command = [sys.executable, "-c", PROGRAM, root, mode]
        done: list[float] = []
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        ) as process:
            assert process.stdout is not None
            for _ in iter(process.stdout.readline, b""):
                done.append(time.monotonic())
                if done[-1] - done[0] > seconds:
                    break
            process.kill()
        recorded = steps_on_record(tfdbg_tui.open_run(root))
    recorded = min(recorded, len(done))
    return (done[-1] - done[max(recorded - 1, 0)]) * 1e3, len(done) - recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--kills", type=int, default=5)
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    print("| mode | lost, ms: median | most | steps lost, most |")
    print("|---|--:|--:|--:|")
    for mode in args.modes:
        found = [lost(mode, random.uniform(2.0, 4.0)) for _ in range(args.kills)]
        times = [milliseconds for milliseconds, _ in found]
        most = max(steps for _, steps in found)
        print(
            f"| {mode} | {statistics.median(times):.0f} | {max(times):.0f} | {most} |", flush=True
        )


if __name__ == "__main__":
    main()
