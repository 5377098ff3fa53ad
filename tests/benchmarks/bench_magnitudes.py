"""What it costs that the smallest and largest elements of all tensors are recorded in some steps.

    python tests/benchmarks/bench_magnitudes.py [--programs mnist cnn ...] [--rounds 3] [--bad]
    python tests/benchmarks/bench_magnitudes.py --asks 40 --programs lstm

Prints a Markdown table.  What is measured is CPU time of the process in one step, after which the
writer has written all of it.

In each round there are 200 steps of a new dump with the default.  A step that is measured costs
what it takes more than the median of those around it that are not.  What that is in parts of a step
without a dump is told of those from the 12th on, and of steps 1 and 2, in which more iterations of
loops are measured (that of step 0 is not known: functions are traced in it).  What all of them cost
together is told in seconds, and as a part of 200 steps without a dump.  Each is the median of the
rounds, with the lowest and the highest.

With `--asks`, what it costs that graphs ask whether a step is measured: so many blocks of late
steps, of which none is, take turns with those of a dump with `magnitudes_every=0`.  Told are the
medians of a step, and of the differences the mean with its standard error, and the median.  Blocks
take seconds: how often the writer's thread wakes up in them must not matter.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import bench_dump

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

UP_TO = 200
LATER = 12
NEAR = 8
LATE = 1001
"""Blocks of late steps begin here; those that are measured are left out."""
BLOCK_SECONDS = 2


class Round(NamedTuple):
    """What was measured in one round, in steps without a dump.

    Attributes:
        first: What steps 1 and 2 cost more.
        later: What a later one costs more.
        total: What all up to step 200 cost more.
    """

    first: float
    later: float
    total: float


@contextlib.contextmanager
def dumping(root: str, **options: Any) -> Iterator[Any]:
    """Dump in the default mode; yield the writer."""
    import tfdbg_tui

    yield tfdbg_tui.enable_dump_debug_info(root, "ADAPTIVE", -1, **options)
    tfdbg_tui.disable_dump_debug_info()


def times(step: Callable[[], object], numbers: Sequence[int], writer: Any = None) -> list[float]:
    """Return the CPU milliseconds of some steps, given their numbers."""
    import tfdbg_tui

    found = []
    for number in numbers:
        begin = time.process_time()
        with tfdbg_tui.step(number):
            step()
        if writer is not None:
            writer.flush()
        found.append((time.process_time() - begin) * 1e3)
    return found


def early(step: Callable[[], object], plain: float, root: str) -> Round:
    """Measure the first steps of a dump.

    Args:
        step: The step.
        plain: What it takes without a dump.
        root: Where to write.
    """
    from tfdbg_tui.dump.observe.magnitudes import EARLY, EVERY

    with dumping(root) as writer:
        found = times(step, range(UP_TO), writer)
    measured = {*EARLY, *range(0, UP_TO, EVERY)}
    more = {}
    for number in measured - {0}:
        near = range(max(1, number - NEAR), min(UP_TO, number + NEAR + 1))
        others = [found[other] for other in near if other not in measured]
        more[number] = found[number] - statistics.median(others)
    later = statistics.median(cost for number, cost in more.items() if number >= LATER)
    first = statistics.mean((more[1], more[2]))
    return Round(first / plain, later / plain, sum(more.values()) / plain)


def late(step: Callable[[], object], count: int, root: str, **options: Any) -> float:
    """Return the milliseconds of a late step of a new dump, of which none is measured."""
    from tfdbg_tui.dump.observe.magnitudes import EVERY

    numbers = [n for n in range(LATE, LATE + 2 * count) if n % EVERY][:count]
    with dumping(root, **options) as writer:
        times(step, range(3), writer)  # The dump's first step is traced in.
        begin = time.process_time()
        times(step, numbers)
        writer.flush()
        return (time.process_time() - begin) * 1e3 / count


def measure(name: str, rounds: int, asks: int, *, bad: bool) -> dict[str, Any]:
    """Measure a program in this process."""
    import tensorflow as tf

    program = bench_dump.PROGRAMS[name]
    tf.zeros([1]).numpy()  # TensorFlow has started.
    step = program.make(bad)
    times(step, range(3))
    plain = statistics.median(times(step, range(program.steps)))
    count = max(program.steps, round(BLOCK_SECONDS * 1e3 / plain))
    with tempfile.TemporaryDirectory() as root:
        if not asks:
            return {"plain": plain, "rounds": [early(step, plain, root) for _ in range(rounds)]}
        blocks: list[tuple[float, float]] = []
        for _ in range(asks):
            kinds: list[dict[str, Any]] = [{"magnitudes_every": 0}, {}]
            order = random.sample((0, 1), 2)
            found = {kind: late(step, count, root, **kinds[kind]) for kind in order}
            blocks.append((found[0], found[1]))
        return {"plain": plain, "blocks": blocks}


def spread(numbers: Sequence[float], form: str) -> str:
    """Return the median of some numbers, with the lowest and the highest."""
    middle = statistics.median(numbers)
    return f"{middle:{form}} ({min(numbers):{form}}–{max(numbers):{form}})"


def row(result: dict[str, Any]) -> list[str]:
    """Return the cells of a program."""
    plain = f"{result['plain']:.3g}"
    if "blocks" in result:
        without, asking = zip(*result["blocks"], strict=True)
        more = [b - a for a, b in result["blocks"]]
        error = statistics.stdev(more) / len(more) ** 0.5
        medians = (f"{statistics.median(some):.3g}" for some in (without, asking))
        told = f"{statistics.mean(more):.2f} ± {error:.2f}; {statistics.median(more):.2f}"
        return [plain, *medians, told]
    first, later, total = zip(*result["rounds"], strict=True)
    seconds = statistics.median(total) * result["plain"] / 1e3
    return [
        plain,
        *(spread(later, ".2f"), spread(first, ".2f")),
        *(f"{statistics.median(later) / 100:.1%}", f"{seconds:.2f}"),
        spread([steps / UP_TO for steps in total], ".1%"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    programs = bench_dump.PROGRAMS
    parser.add_argument("--programs", nargs="+", default=list(programs), choices=programs)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--asks", type=int, default=0, metavar="BLOCKS", help="see above")
    parser.add_argument("--bad", action="store_true", help="all tensors are NaN")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.rounds, args.asks, bad=args.bad)))
        return
    heads = ["a step, CPU ms"]
    if args.asks:
        heads += ["`magnitudes_every=0`, ms", "by default, ms", "more, ms"]
    else:
        heads += [
            "a measured step, ×",
            "steps 1, 2, ×",
            "one in 100",
            f"up to step {UP_TO}, s",
            "%",
        ]
    print(f"| program | {' | '.join(heads)} |")
    print("|---|" + "--:|" * len(heads))
    for name in args.programs:
        if programs[name].package and not importlib.util.find_spec(programs[name].package):
            print(f"{name}: skipped, {programs[name].package} is not installed", file=sys.stderr)
            continue
        command = [sys.executable, __file__, "--one", name, "--rounds", str(args.rounds)]
        command += ["--asks", str(args.asks)]
        command += ["--bad"] if args.bad else []
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            print(f"{name}: {process.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            continue
        result = json.loads(process.stdout.strip().splitlines()[-1])
        print(f"| {name} | {' | '.join(row(result))} |", flush=True)


if __name__ == "__main__":
    main()
