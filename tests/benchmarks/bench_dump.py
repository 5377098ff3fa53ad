"""What a dump costs: steps, first steps and memory without one, with TensorFlow's, with ours.

    python tests/benchmarks/bench_dump.py [--programs mnist cnn ...] [--writers tensorflow ours]

Prints a Markdown table.  What is measured is the CPU time of the process, the writer's threads and
the last flush included, as that is what other programs on the machine disturb least.

Ours is measured in one process, in which blocks of steps without and with the dump take turns: the
ratio is the median of those of the pairs.  Steps are counted on from block to block, as in a
training, and from the warm-up to the first block a thousand are left out: what is measured are late
steps, as this writer records the extremes of all tensors in some of the first 200, and later in one
in 100.
TensorFlow's writer cannot let go of what was traced with it, so there all blocks with it come
first, and then those of a program made anew.

Before each block a file is written and removed, so that the pages of the files come from the system
and not, in a virtual machine, from its host: that takes ten times as long as to write them.

The first step, from making the program to its first result, and the peak memory (of all,
TensorFlow included) are each those of a process that has done nothing before.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import dump_packages
import dump_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

PROGRAMS = dump_programs.PROGRAMS | dump_packages.PROGRAMS
TENSORFLOW_MODE = "CONCISE_HEALTH"
WRITERS = ("tensorflow", "ours")
_RSS_UNIT = 1 if sys.platform == "darwin" else 1 << 10
_WARM_UP = 3
_WARM_UP_DUMPED = 12
"""A bad tensor is described in full the first ten times."""
_FIRST_MEASURED = 1001
_PAGES_MB = 256
_step_numbers = itertools.count()

Result = dict[str, Any]


# ---- In a process of its own -----------------------------------------------------------------


@contextlib.contextmanager
def dumping(writer: str, mode: str, every: int, root: str) -> Iterator[Any]:
    """Dump with one writer; yield it, or None."""
    import tensorflow as tf

    import tfdbg_tui

    if writer == "ours":
        handle = tfdbg_tui.enable_dump_debug_info(root, mode, -1, every=every)
        with tfdbg_tui.step(0):
            pass  # Early steps are those after the first one of the dump.
        yield handle
        tfdbg_tui.disable_dump_debug_info()
    elif writer == "tensorflow":
        yield tf.debugging.experimental.enable_dump_debug_info(root, TENSORFLOW_MODE, -1)
        tf.debugging.experimental.disable_dump_debug_info()
    else:
        yield None


def step_time(step: Callable[[], object], count: int, writer: Any = None) -> float:
    """Return the CPU milliseconds of a step, the mean of some."""
    import tfdbg_tui

    get_pages()
    begin = time.process_time()
    for _ in range(count):
        with tfdbg_tui.step(next(_step_numbers)):
            step()
    if writer is not None:
        writer.FlushNonExecutionFiles()
        writer.FlushExecutionFiles()
    return (time.process_time() - begin) * 1e3 / count


def get_pages() -> None:
    """Let the system have enough free memory of its own for the files of a block."""
    with tempfile.TemporaryFile() as file:
        for _ in range(_PAGES_MB):
            file.write(bytes(1 << 20))


def measure(name: str, bad: bool, writer: str, mode: str, every: int, pairs: int) -> Result:
    """Measure a program with one writer, or with none, in this process."""
    global _step_numbers
    import tensorflow as tf

    program = PROGRAMS[name]
    count = max(program.steps, 2 * every if every > 1 else 0)
    tf.zeros([1]).numpy()  # TensorFlow has started.
    none: list[float] = []
    dumped: list[float] = []
    with tempfile.TemporaryDirectory() as root:
        with dumping(writer, mode, every, root) as handle:
            begin = time.process_time()
            step = program.make(bad)
            step()
            first = time.process_time() - begin
            step_time(step, _WARM_UP)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT
            _step_numbers = itertools.count(_FIRST_MEASURED)
            if writer == "tensorflow":
                dumped = [step_time(step, count, handle) for _ in range(pairs)]
        if writer == "tensorflow":
            step = program.make(bad)
            step_time(step, _WARM_UP)
            none = [step_time(step, count) for _ in range(pairs)]
        if writer == "ours":
            step_time(step, _WARM_UP)
            for _ in range(pairs):
                none.append(step_time(step, count))
                with dumping(writer, mode, every, root) as handle:
                    step_time(step, _WARM_UP_DUMPED)  # A dump that is over has left no copies.
                    dumped.append(step_time(step, count, handle))
    return {"first": first, "peak": peak / 1e6, "none": none, "dumped": dumped}


# ---- The table -------------------------------------------------------------------------------


def measured(arguments: Sequence[object]) -> Result | None:
    """Run `measure` in a process of its own; None where the program fails."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        print(f"{arguments}: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return dict(json.loads(process.stdout.strip().splitlines()[-1]))


class Table:
    """Prints rows, and keeps the ratios by the heads of their columns."""

    HEADS = ("step", "first step", "peak memory")

    def __init__(self, writers: Sequence[str]) -> None:
        self._writers = writers
        self._ratios: dict[tuple[str, str], list[float]] = {}
        names = {"tensorflow": "TensorFlow's", "ours": "ours"}
        columns = ["program", "tensors"]
        for head, unit in zip(self.HEADS, ("CPU ms", "CPU s", "MB"), strict=True):
            columns += [f"{head}, {unit}", *(f"{names[writer]}, ×" for writer in writers)]
        print(f"| {' | '.join(columns)} |")
        print("|---|---|" + "--:|" * (len(columns) - 2))

    def row(self, name: str, tensors: str, plain: Result | None, results: dict[str, Any]) -> None:
        """Print what was measured of a program.

        Args:
            name: The program.
            tensors: Whether they are healthy or bad.
            plain: The first step and the peak without a dump; None where they do not matter.
            results: What was measured with each writer; None where the program fails.
        """
        steps = [step for result in results.values() if result for step in result["none"]]
        cells = [f"{statistics.median(steps):.3g}" if steps else ""]
        cells += [self._step_ratio(writer, results[writer]) for writer in self._writers]
        for key, head in (("first", "first step"), ("peak", "peak memory")):
            cells.append(f"{plain[key]:.3g}" if plain else "")
            for writer in self._writers:
                result = results[writer]
                cells.append(self._ratio(head, writer, plain, result, key))
        print(f"| {name} | {tensors} | {' | '.join(cells)} |", flush=True)

    def _step_ratio(self, writer: str, result: Result | None) -> str:
        if result is None:
            return "fails"
        if writer == "tensorflow":
            ratio = statistics.median(result["dumped"]) / statistics.median(result["none"])
            return self._kept("step", writer, ratio)
        pairs = [d / n for d, n in zip(result["dumped"], result["none"], strict=True)]
        found = self._kept("step", writer, statistics.median(pairs))
        return f"{found} ({min(pairs):.2f}–{max(pairs):.2f})"

    def _ratio(
        self, head: str, writer: str, plain: Result | None, result: Result | None, key: str
    ) -> str:
        if plain is None or result is None:
            return ""
        return self._kept(head, writer, result[key] / plain[key])

    def _kept(self, head: str, writer: str, ratio: float) -> str:
        self._ratios.setdefault((head, writer), []).append(ratio)
        return f"{ratio:.2f}"

    def summary(self) -> None:
        """Print the median and the worst of each column."""
        for name, of in (("median", statistics.median), ("worst", max)):
            cells = []
            for head in self.HEADS:
                found = [self._ratios.get((head, writer)) for writer in self._writers]
                cells += ["", *(f"**{of(ratios):.2f}**" if ratios else "" for ratios in found)]
            print(f"| **{name}** | | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=PROGRAMS)
    parser.add_argument("--writers", nargs="+", default=list(WRITERS), choices=WRITERS)
    parser.add_argument("--mode", default="ADAPTIVE", help="of our writer")
    parser.add_argument("--every", type=int, default=1, help="our writer records one step in N")
    parser.add_argument("--pairs", type=int, default=9, help="of blocks; 3 tell a factor")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    options = args.mode, args.every, args.pairs
    if args.one:
        name, bad, writer = args.one
        print(json.dumps(measure(name, bad == "bad", writer, *options)))
        return
    flags = [f"--mode={args.mode}", f"--every={args.every}", f"--pairs={args.pairs}"]
    table = Table(args.writers)
    for name in args.programs:
        program = PROGRAMS[name]
        if program.package and not importlib.util.find_spec(program.package):
            print(f"{name}: skipped, {program.package} is not installed", file=sys.stderr)
            continue
        for tensors in ("healthy", "bad")[: 1 + program.can_be_bad]:
            is_healthy = tensors == "healthy"
            plain = measured([name, tensors, "none", *flags]) if is_healthy else None
            results = {w: measured([name, tensors, w, *flags]) for w in args.writers}
            table.row(name, tensors, plain, results)
    table.summary()


if __name__ == "__main__":
    main()
