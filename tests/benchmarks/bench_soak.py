"""Measures what a long recording costs: memory and processor time for each event, without a screen.

    python tests/benchmarks/bench_soak.py [--events 2000000] [--bad 0 0.5 1] [--step 20000]
    python tests/benchmarks/bench_soak.py --rates 500 5000 [--seconds 60] [--bad 0 1]

appends the events of a recorded logdir again and again, with times that go on, and after each
step does what the app does: reads, makes a snapshot, and has it explained in a thread of its own.
The events of the recorded run are healthy first; from then on a share of them is bad, as in a
training run that has died.  One execution comes with every 20 graph executions.  With --rates, the
app follows in a pseudo terminal instead, at so many events a second.  Prints a table.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tarfile
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_tui
import numpy as np
from bench_live import TICK
from bench_reader import RECORDED

from tfdbg_tui.logdir import RunReader, list_runs, open_run
from tfdbg_tui.tui.background.diagnoser import Diagnosed, Diagnoser
from tfdbg_tui.tui.session.snapshot import Snapshot
from tfdbg_tui.wire import filesets, tfrecord

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.report.explanation import Explanation
    from tfdbg_tui.logdir.index.event_list import EventList

SUFFIXES = (filesets.EXECUTION, filesets.GRAPH_EXECUTION_TRACES)
TRACES_A_CALL = 20
WALL_TIME = slice(1, 9)  # in a DebugEvent, behind the tag


class Recording:
    """A logdir that grows by records of another one.

    Args:
        recorded: The other one.
        target: Where it is to be; made, with all definitions and no events.
    """

    def __init__(self, recorded: Path, target: Path) -> None:
        run = open_run(recorded)
        target.mkdir()
        (file_set,) = filesets.find_file_sets(str(recorded))
        self.directory = target
        self.events = 0
        self._paths, self._payloads, self._next = [], [], [0, 0]
        self._clock = run.newest_wall_time()
        lists: tuple[EventList[Any], ...] = (run.executions, run.graph_executions)
        for suffix, events in zip(SUFFIXES, lists, strict=True):
            source = Path(file_set.path(suffix))
            payloads = [bytes(payload) for _, payload in tfrecord.records(source.read_bytes())]
            bad = sorted(set(np.asarray(events.alert_rows[:]).tolist()))
            healthy = payloads[: bad[0]][:100]
            self._payloads.append((healthy, [payloads[row] for row in bad]))
            self._paths.append(target / source.name)
        for source in recorded.iterdir():
            if source.name not in {path.name for path in self._paths}:
                shutil.copy(source, target)
        for path in self._paths:
            path.touch()

    def grow(self, count: int, bad: float) -> None:
        """Append events, a share of which is bad."""
        data: tuple[list[bytes], list[bytes]] = ([], [])
        for number in range(self.events, self.events + count):
            which = int(number % (TRACES_A_CALL + 1) != TRACES_A_CALL)
            self._clock += 1e-4
            data[which].append(tfrecord.frame(self._payload(which, number, bad)))
        self.events += count
        for path, records in zip(self._paths, data, strict=True):
            with path.open("ab") as file:
                file.write(b"".join(records))

    def _payload(self, which: int, number: int, bad: float) -> bytes:
        is_bad = int(number % 100 < bad * 100)
        payloads = self._payloads[which][is_bad]
        payload = bytearray(payloads[self._next[is_bad] % len(payloads)])
        self._next[is_bad] += 1
        payload[WALL_TIME] = np.float64(self._clock).tobytes()
        return bytes(payload)


class Session:
    """What the app does with a logdir, but for drawing."""

    def __init__(self, directory: Path) -> None:
        (files,) = list_runs(directory)
        self._reader = RunReader(files)
        self._explainer = Diagnoser(self._explained)
        self.snapshot: Snapshot | None = None
        self.explained = 0
        self._explanation: Explanation | None = None
        self._explainer.start()

    def _explained(self, message: object) -> None:
        assert isinstance(message, Diagnosed), message
        assert not message.reason, message.reason
        self._explanation = message.explanation
        self.explained += 1

    def look(self) -> float:
        """Read what is new and make a snapshot of it; return the seconds that the snapshot took."""
        run = self._reader.read_all()
        started = time.thread_time()
        snapshot = Snapshot(run, self.snapshot)
        took = time.thread_time() - started
        self._explainer.explain(snapshot)
        explanation = self._explanation
        self.snapshot = snapshot.explained(explanation) if explanation else snapshot
        return took

    def close(self) -> None:
        self._explainer.stop()
        self._reader.close()


def resident() -> int:
    """Return the bytes of memory that this process has resident."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(recorded: Path, scratch: Path, shares: list[float], events: int, step: int) -> None:
    """Print a row of the table for each share of bad events, one after another in one run."""
    recording = Recording(recorded, scratch / "soak")
    session = Session(recording.directory)
    recording.grow(step, 0.0)
    session.look()
    for bad in shares:
        memory, before, cpu, longest = resident(), recording.events, 0.0, 0.0
        explained = session.explained
        while recording.events < before + events:
            recording.grow(step, bad)
            start = time.process_time()
            longest = max(longest, session.look())
            cpu += time.process_time() - start
        start = time.process_time()
        time.sleep(5)  # the explanation of the last one
        cpu += time.process_time() - start
        grown = (resident() - memory) / events
        assert session.snapshot is not None
        alerts = len(session.snapshot.alerts)
        print(
            f"| {bad:.0%} | {recording.events:,} | {alerts:,} | {grown:.1f} "
            f"| {cpu / events * 1e6:.2f} | {longest * 1e3:.0f} | {session.explained - explained} "
            f"| {resident() / 2**20:.0f} |",
            flush=True,
        )
    if tracemalloc.is_tracing():
        for kept in tracemalloc.take_snapshot().statistics("traceback")[:25]:
            print(f"{kept.size / 2**20:.1f} MB", *kept.traceback.format()[-6:], sep="\n")
    session.close()


def watch(
    recorded: Path, scratch: Path, shares: list[float], rates: list[int], seconds: float
) -> None:
    """Print a row of the table for each share of bad events and each rate, in one app."""
    recording = Recording(recorded, scratch / "watched")
    terminal = bench_tui.Terminal(recording.directory, 120, 40)
    terminal.until(b"following")
    terminal.press(b"3")
    for bad in shares:
        for rate in rates:
            memory, cpu, before = terminal.memory(), terminal.cpu(), recording.events
            start = now = time.perf_counter()
            while now - start < seconds:
                due = int(rate * (now - start)) - (recording.events - before)
                if due:
                    recording.grow(due, bad)
                terminal.read(TICK)
                now = time.perf_counter()
            used = terminal.cpu() - cpu
            print(
                f"| {bad:.0%} | {rate:,} | {recording.events:,} | {used / (now - start) * 100:.1f} "
                f"| {memory:.0f} | {terminal.memory():.0f} |",
                flush=True,
            )
            terminal.output = b""
    terminal.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bad", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    parser.add_argument("--events", type=int, default=2_000_000, help="for each share")
    parser.add_argument("--step", type=int, default=20_000, help="events from look to look")
    parser.add_argument("--rates", type=int, nargs="+", help="events a second, in the app")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each rate")
    parser.add_argument("--trace", action="store_true", help="tell where memory was allocated")
    args = parser.parse_args()
    if args.rates:
        print("| bad | events/s | events | CPU % | resident MB before | after |")
        print("|---|---|---|---|---|---|")
    else:
        titles = "bad | events | alerts | bytes an event | CPU µs an event"
        print(f"| {titles} | longest snapshot, CPU ms | explanations | resident MB |")
        print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="bench-soak-") as scratch:
        with tarfile.open(RECORDED) as archive:
            archive.extractall(scratch, filter="data")
        if args.trace:
            tracemalloc.start(8)
        recorded = Path(scratch, RECORDED.name.removesuffix(".tar.xz"))
        if args.rates:
            watch(recorded, Path(scratch), args.bad, args.rates, args.seconds)
        else:
            soak(recorded, Path(scratch), args.bad, args.events, args.step)


if __name__ == "__main__":
    main()
