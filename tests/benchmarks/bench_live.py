"""Times the app beside a program that records: latency, throughput, rest, memory, bytes to draw.

    python tests/benchmarks/bench_live.py [--rates 2000 50000 200000] [--seconds 10] [--rest 30]
    python tests/benchmarks/bench_live.py --writers tensorflow tfdbg_tui

A writer in a process of its own repeats the graph executions of a recorded logdir, appending them
as a dump writer does, every 20 ms; the app follows them in a pseudo terminal of 120x40.  Latency is
from the writing of a record until its number has been drawn.  The run is synthetic, the records are
real; what they hold does not change, so nothing becomes bad that was not.  With --writers, a real
program records as fast as it can instead, under TensorFlow's dump writer or ours.  Prints a table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import bench_tui
from bench_reader import RECORDED

from tfdbg_tui.logdir import open_run
from tfdbg_tui.wire import filesets, tfrecord

SIZE = (120, 40)
TICK = 0.02
bench_tui.PROGRAM = (
    "import sys; from tfdbg_tui.tui import run_app; sys.exit(run_app(sys.argv[1], follow=True))"
)


def without_events(recorded: Path, target: Path) -> tuple[Path, list[bytes]]:
    """Copies a logdir without events; returns the file for graph executions, and its records."""
    target.mkdir()
    (file_set,) = filesets.find_file_sets(str(recorded))
    records: list[bytes] = []
    for suffix in filesets.SUFFIXES:
        source = Path(file_set.path(suffix))
        if suffix in (filesets.EXECUTION, filesets.GRAPH_EXECUTION_TRACES):
            (target / source.name).touch()
        else:
            shutil.copy(source, target)
        if suffix == filesets.GRAPH_EXECUTION_TRACES:
            records = [tfrecord.frame(data) for _, data in tfrecord.records(source.read_bytes())]
            traces = target / source.name
    return traces, records[:100]  # the first hundred are healthy


def append(path: Path, records: list[bytes], rate: int, seconds: float) -> None:
    """Appends records at a rate, however long each write takes."""
    block = b"".join(records)
    written, start = 0, time.perf_counter()
    with path.open("ab", buffering=0) as file:
        while written < rate * seconds:
            due = int(min(time.perf_counter() - start, seconds) * rate) // len(records)
            rounds = due - written // len(records)
            if rounds > 0:
                file.write(block * rounds)
                written += rounds * len(records)
            elif time.perf_counter() - start > seconds:
                break
            time.sleep(TICK)


def size_of(path: Path, records: list[bytes]) -> int:
    """Returns how many records are in the file."""
    return path.stat().st_size // len(b"".join(records)) * len(records)


def drain(terminal: bench_tui.Terminal) -> None:
    """Takes what the app draws for some seconds; it does not stop while it counts silence."""
    end = time.perf_counter() + 3
    while time.perf_counter() < end:
        terminal.read(0.1)


def wait_for_count(terminal: bench_tui.Terminal, count: int, since: int) -> float:
    """Returns when the app had drawn that there are `count` graph executions."""
    needle = f" of {count:,} ".encode()
    deadline = time.perf_counter() + 60
    while needle not in terminal.output[since:]:
        terminal.read(0.005)
        if time.perf_counter() > deadline:
            raise SystemExit(f"{count:,} has not been drawn")
    return time.perf_counter()


def latencies(
    terminal: bench_tui.Terminal, path: Path, records: list[bytes], count: int
) -> list[float]:
    """Returns the milliseconds from the writing of single records to their being drawn."""
    found = []
    with path.open("ab", buffering=0) as file:
        for number in range(1, count + 1):
            end = time.perf_counter() + random.uniform(0.3, 0.9)
            while time.perf_counter() < end:
                terminal.read(0.01)
            since = len(terminal.output)
            written = time.perf_counter()
            file.write(records[number % len(records)])
            found.append((wait_for_count(terminal, number, since) - written) * 1e3)
    return sorted(found)


def flow(
    terminal: bench_tui.Terminal, path: Path, records: list[bytes], rate: int, seconds: float
) -> str:
    """Returns a row of the table for a rate."""
    before, cpu, memory = size_of(path, records), terminal.cpu(), terminal.memory()
    start_output, start = len(terminal.output), time.perf_counter()
    writer = multiprocessing.Process(target=append, args=(path, records, rate, seconds))
    writer.start()
    while writer.is_alive():
        terminal.read(0.05)
    end = time.perf_counter()
    count = size_of(path, records)
    behind = wait_for_count(terminal, count, start_output) - end
    used = time.perf_counter() - start
    drawn = len(terminal.output) - start_output
    added = count - before
    drain(terminal)
    grown = (terminal.memory() - memory) * 2**20 / added
    return (
        f"| {rate:,} | {added / (end - start):,.0f} | {behind:.2f} "
        f"| {(terminal.cpu() - cpu) / used * 100:.0f} | {drawn / used:,.0f} | {grown:.1f} |"
    )


def rest(terminal: bench_tui.Terminal, seconds: float) -> tuple[float, float]:
    """Returns (percent of a processor, bytes a second) of an app that has nothing to do.

    Not before the first minute of silence is over: until then the seconds are counted on screen.
    """
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        terminal.read(0.5)
    cpu, drawn, start = terminal.cpu(), len(terminal.output), time.perf_counter()
    while time.perf_counter() - start < seconds:
        terminal.read(0.5)
    used = time.perf_counter() - start
    return (terminal.cpu() - cpu) / used * 100, (len(terminal.output) - drawn) / used


TRAINING = """
import sys, time
import tensorflow as tf
writer, logdir, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
if writer == "tensorflow":
    from tensorflow.debugging.experimental import disable_dump_debug_info, enable_dump_debug_info
else:
    from tfdbg_tui import disable_dump_debug_info, enable_dump_debug_info
enable_dump_debug_info(logdir, tensor_debug_mode="CONCISE_HEALTH", circular_buffer_size=-1)

@tf.function
def step(x):
    for _ in range(20):
        x = tf.tanh(x) * 0.5 + 0.1
    return x

x, start, steps = tf.ones([100]), time.time(), 0
while time.time() - start < seconds:
    x = step(x) * 1.0
    steps += 1
ended = time.time()
disable_dump_debug_info()
print(steps, ended - start, ended, time.time())
"""


def program(writer: str, scratch: Path, seconds: float) -> str:
    """Returns a row of the table for a program that records as fast as it can."""
    logdir = scratch / writer
    terminal = bench_tui.Terminal(logdir, *SIZE)
    terminal.until(b"Waiting for a program")
    command = [sys.executable, "-c", TRAINING, writer, str(logdir), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    drawn: list[tuple[float, int]] = []  # when, and how much had been drawn by then
    pressed = False
    while process.poll() is None or time.time() - drawn[-1][0] < 3:
        if terminal.read(0.02):
            drawn.append((time.time(), len(terminal.output)))
        if not pressed and b"following" in terminal.output:
            os.write(terminal.fd, b"3")
            pressed = True
    steps, took, ended, closed = map(float, process.communicate()[0].split())
    run = open_run(logdir)
    needle = f" of {len(run.graph_executions):,} ".encode()
    at = terminal.output.index(needle)
    shown = next(when for when, size in drawn if size > at)
    terminal.close()
    return (
        f"| {writer} | {steps / took:,.0f} | {run.num_events / took:,.0f} "
        f"| {closed - ended:.2f} | {shown - closed:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=int, nargs="+", default=[2_000, 50_000, 200_000])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rest", type=float, default=30.0)
    parser.add_argument("--records", type=int, default=40, help="whose latency is measured")
    parser.add_argument("--writers", nargs="+", choices=("tensorflow", "tfdbg_tui"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-live-") as scratch:
        if args.writers:
            titles = "writer | steps/s | events/s | s to end the dump | last row drawn s after that"
            print(f"| {titles} |\n|---|---|---|---|---|")
            for writer in args.writers:
                print(program(writer, Path(scratch), args.seconds), flush=True)
            return
        with tarfile.open(RECORDED) as archive:
            archive.extractall(scratch, filter="data")
        recorded = Path(scratch, RECORDED.name.removesuffix(".tar.xz"))
        path, records = without_events(recorded, Path(scratch, "live"))
        terminal = bench_tui.Terminal(path.parent, *SIZE)
        terminal.until(b"following")
        drain(terminal)
        terminal.press(b"3")
        found = latencies(terminal, path, records, args.records)
        print("| record written to row drawn, ms: median | p95 | max |\n|---|---|---|")
        print(f"| {statistics.median(found):.0f} | {found[int(len(found) * 0.95)]:.0f} "
              f"| {found[-1]:.0f} |")  # fmt: skip
        path.write_bytes(b"")
        drain(terminal)
        titles = "asked, events/s | written | drawn s after the last | CPU % | bytes/s drawn"
        print(f"\n| {titles} | bytes of memory an event |\n|---|---|---|---|---|---|")
        for rate in args.rates:
            print(flow(terminal, path, records, rate, args.seconds), flush=True)
        cpu, drawn = rest(terminal, args.rest)
        print("\n| at rest | |\n|---|---|")
        print(f"| events | {size_of(path, records):,} |")
        print(f"| CPU % | {cpu:.2f} |")
        print(f"| bytes/s drawn | {drawn:.0f} |")
        print(f"| resident memory, MB | {terminal.memory():.0f} |")
        files, threads = (
            len(list(Path(f"/proc/{terminal.pid}", name).iterdir())) for name in ("fd", "task")
        )
        print(f"| open files, threads | {files}, {threads} |")
        terminal.close()


if __name__ == "__main__":
    main()
