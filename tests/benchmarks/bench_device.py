"""What a dump costs where there is a GPU: steps by the clock, copies to and from it, kernels.

    python tests/benchmarks/bench_device.py [--programs cnn transformer ...] [--bad]

Prints a Markdown table: of a late step without a dump and with ADAPTIVE.  Each program is measured
in a process of its own, in which blocks of steps without and with the dump take turns; the times
are medians.  Copies and kernels are those that TensorFlow's profiler finds on the GPU, a step.
Before a block a step is measured, one in 100 with a dump, so that none of the block is.

Without a GPU it prints the times alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_dump
import dump_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

PAIRS = 3
PROFILED = 2
WARM_UP = 12
"""A bad tensor is described in full the first ten times."""
KINDS = {"MemcpyD2H": "to the host", "MemcpyH2D": "to the GPU"}
COLUMNS = ("ms", *KINDS.values(), "kernels")

_step_numbers = itertools.count(1001)


def resnet(bad: bool) -> Callable[[], object]:
    """ResNet50, batch 64 of 224 × 224, compiled by XLA where Keras does so."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    model = keras.applications.ResNet50(weights=None, classes=10)
    x, y = dump_programs.normal([64, 224, 224, 3], bad), tf.zeros([64], tf.int32)
    loss = "sparse_categorical_crossentropy"
    return dump_programs.fit_step(model, x, y, loss=loss, jit_compile="auto")


def tape(bad: bool) -> Callable[[], object]:
    """Three dense layers, a tape and Adam, all of it eager."""
    import keras
    import tensorflow as tf

    dense = keras.layers.Dense
    model = dump_programs.sequential((64,), dense(256, "relu"), dense(256, "relu"))
    optimizer = keras.optimizers.Adam()
    x, y = dump_programs.normal([128, 64], bad), dump_programs.normal([128, 1], bad=False)

    def step() -> float:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return float(loss)

    return step


PROGRAMS = bench_dump.PROGRAMS | {
    "resnet": dump_programs.Program(resnet, 8),
    "tape": dump_programs.Program(tape, 15),
}


def warm_up(step: Callable[[], object]) -> None:
    """Run steps, the first of which is one in 100."""
    global _step_numbers
    _step_numbers = itertools.count(-(-next(_step_numbers) // 100) * 100)
    run(step, WARM_UP)


def run(step: Callable[[], object], count: int, writer: Any = None) -> float:
    """Run steps; return the milliseconds of each, the writer's last flush included."""
    import tensorflow as tf

    import tfdbg_tui

    begin = time.perf_counter()
    for _ in range(count):
        with tfdbg_tui.step(next(_step_numbers)):
            step()
    tf.test.experimental.sync_devices()
    if writer is not None:
        writer.flush()
    return (time.perf_counter() - begin) * 1e3 / count


def profiled(step: Callable[[], object]) -> Counter[str]:
    """Return how many copies and kernels a step has on GPUs."""
    import tensorflow as tf

    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as root:
        tf.profiler.experimental.start(root)
        run(step, PROFILED)
        tf.profiler.experimental.stop()
        for name in device_events(Path(root)):
            copied = next((to for copy, to in KINDS.items() if copy in name), None)
            if copied or not name.startswith(("Memcpy", "Memset")):
                found[copied or "kernels"] += 1
    return found


def device_events(root: Path) -> Iterator[str]:
    """Yield the names of what ran on GPUs; their planes have lines of streams, and of summaries."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    for path in root.rglob("*.xplane.pb"):
        for plane in xplane_pb2.XSpace.FromString(path.read_bytes()).planes:
            if not plane.name.startswith("/device:GPU"):
                continue
            for line in plane.lines:
                if line.name.startswith("Stream"):
                    yield from (plane.event_metadata[e.metadata_id].name for e in line.events)


def measure(name: str, bad: bool) -> dict[str, dict[str, float]]:
    """Measure a program in this process; return the columns without and with the dump."""
    program = PROGRAMS[name]
    times: dict[str, list[float]] = {"plain": [], "dumped": []}
    counts = {}
    with tempfile.TemporaryDirectory() as root:
        with bench_dump.dumping("ours", "ADAPTIVE", 1, root):
            step = program.make(bad)
            warm_up(step)
            counts["dumped"] = profiled(step)
        run(step, WARM_UP)
        counts["plain"] = profiled(step)
        for _ in range(PAIRS):
            times["plain"].append(run(step, program.steps))
            with bench_dump.dumping("ours", "ADAPTIVE", 1, root) as writer:
                warm_up(step)
                times["dumped"].append(run(step, program.steps, writer))
    return {
        kind: {"ms": statistics.median(times[kind])}
        | {column: counts[kind][column] / PROFILED for column in COLUMNS[1:]}
        for kind in times
    }


def row(name: str, result: dict[str, dict[str, float]]) -> str:
    """Return a row of the table: of each column the number without and with the dump."""
    plain, dumped = result["plain"], result["dumped"]
    cells = [f"{plain[column]:.3g} → {dumped[column]:.3g}" for column in COLUMNS]
    return f"| {name} | {dumped['ms'] / plain['ms']:.2f} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=PROGRAMS)
    parser.add_argument("--bad", action="store_true", help="all is NaN")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.programs[0], args.bad)))
        return
    print(f"| program | × | {' | '.join(COLUMNS)} |\n|---|{'--:|' * (len(COLUMNS) + 1)}")
    for name in args.programs:
        command = [sys.executable, __file__, "--one", *["--bad"] * args.bad, "--programs", name]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            print(f"{name}: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        print(row(name, json.loads(process.stdout.strip().splitlines()[-1])), flush=True)


if __name__ == "__main__":
    main()
