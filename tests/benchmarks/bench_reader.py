"""Loads a large logdir with this project's reader and with TensorFlow's, side by side.

    python tests/benchmarks/bench_reader.py [--logdir REAL_LOGDIR] [--traces 1000000 10000000]

takes a logdir that TensorFlow wrote in FULL_HEALTH mode (by default `mnist` of tests/data), repeats
its graph execution traces and executions until there are as many as asked for, with ascending wall
times and valid checksums, and lets both readers load the result, each in a process of its own.
All tensors are made healthy, but for every 997th in the last tenth.  Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tfdbg_tui.wire import crc32c, filesets, tfrecord
from tfdbg_tui.wire.modes import BAD_COLUMNS, VALUE_VECTORS, TensorDebugMode

RECORDED = Path(__file__).parent.parent / "data" / "mnist.tar.xz"
FULL = TensorDebugMode.FULL_HEALTH
VECTOR = 8 * len(VALUE_VECTORS[FULL])
VECTOR_TAG = bytes((0x22, VECTOR))  # TensorProto.tensor_content
INFECTED_EVERY = 997
HEALTHY_PART = 0.9


# ---- A large logdir ------------------------------------------------------------------------------


def scale(logdir: Path, destination: Path, traces: int, executions: int) -> None:
    """Writes a logdir with as many events as asked for, of a real one's records."""
    destination.mkdir()
    (file_set,) = filesets.find_file_sets(str(logdir))
    for suffix in filesets.SUFFIXES:
        source = Path(file_set.path(suffix))
        target = destination / source.name
        counts = {filesets.GRAPH_EXECUTION_TRACES: traces, filesets.EXECUTION: executions}
        if suffix in counts:
            repeat(source, target, counts[suffix])
        else:
            shutil.copy(source, target)


def repeat(source: Path, target: Path, count: int) -> None:
    payloads = [healthy(payload) for _, payload in tfrecord.records(source.read_bytes())]
    round_trip = 1e-3 * len(payloads)  # seconds that one round of all records seems to take
    templates = [np.frombuffer(tfrecord.frame(payload), np.uint8) for payload in payloads]
    bounds = np.cumsum([0, *map(len, templates)])
    blob = np.concatenate(templates)
    # A CRC is linear: what changes in a payload changes it by a value for each byte and place.
    sizes = np.array([len(payload) for payload in payloads])
    tables = crc_tables(int(sizes.max()))
    time_at = bounds[:-1, None] + tfrecord.HEADER_SIZE + 1 + np.arange(8)
    time_distance = (sizes - 2)[:, None] - np.arange(8)
    times = np.ascontiguousarray(blob[time_at]).view("<f8")[:, 0]
    start = float(times.min())
    crc_at = bounds[1:, None] - 4 + np.arange(4)
    crcs = np.array([crc32c.crc32c(payload) for payload in payloads], np.uint32)
    written = 0
    with target.open("wb") as file:
        while written < count:
            out = blob.copy()
            fresh = start + round_trip * (written // len(payloads)) + 1e-3 * np.arange(len(times))
            new = np.ascontiguousarray(fresh, "<f8").view(np.uint8).reshape(-1, 8)
            change = new ^ blob[time_at]
            crc = crcs ^ np.bitwise_xor.reduce(tables[time_distance, change], axis=1)
            out[time_at] = new
            for row in range(-written % INFECTED_EVERY, len(payloads), INFECTED_EVERY):
                if written + row >= HEALTHY_PART * count:
                    crc[row] ^= infect(out, payloads[row], int(bounds[row]), tables)
            masked = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(0xA282EAD8)
            out[crc_at] = masked.astype("<u4").view(np.uint8).reshape(-1, 4)
            stop = bounds[min(len(payloads), count - written)]
            file.write(out[:stop].data)
            written += len(payloads)


def healthy(payload: bytes) -> bytes:
    """Returns a payload whose value vectors have no NaN and no infinity."""
    out = bytearray(payload)
    bad = BAD_COLUMNS[FULL]
    at = payload.find(VECTOR_TAG)
    while at >= 0:
        first = at + len(VECTOR_TAG)
        out[first + 8 * bad.start : first + 8 * bad.stop] = bytes(8 * (bad.stop - bad.start))
        at = payload.find(VECTOR_TAG, first + VECTOR)
    return bytes(out)


def infect(out: np.ndarray, payload: bytes, start: int, tables: np.ndarray) -> int:
    """Puts one NaN into the first value vector of a record; returns how its CRC changes."""
    at = payload.find(VECTOR_TAG)
    if at < 0:
        return 0
    first = at + len(VECTOR_TAG) + 8 * (BAD_COLUMNS[FULL].stop - 1)
    change = 0
    for place, byte in enumerate(np.float64(1.0).tobytes()):
        out[start + tfrecord.HEADER_SIZE + first + place] ^= byte
        change ^= int(tables[len(payload) - 1 - first - place, byte])
    return change


def crc_tables(size: int) -> np.ndarray:
    """Returns the linear CRC of each byte followed by 0, 1, … zeros; shape [size, 256]."""
    table = np.array(crc32c.TABLE, np.uint32)
    rows = [table]
    for _ in range(size - 1):
        rows.append(table[rows[-1] & 0xFF] ^ (rows[-1] >> np.uint32(8)))
    return np.array(rows)


# ---- The two readers -----------------------------------------------------------------------------


def load_ours(logdir: str) -> dict[str, Any]:
    started = time.perf_counter()
    from tfdbg_tui.logdir import RunReader, list_runs

    cpu, clock = time.process_time(), time.perf_counter()
    reader = RunReader(list_runs(logdir)[0])
    first_rows = first_alert = None
    run = reader.poll()
    while True:
        now = time.perf_counter() - started
        if first_rows is None and len(run.executions) and len(run.graph_executions):
            first_rows = now
        if first_alert is None and run.num_alerts:
            first_alert = now
        if run.progress.complete:
            break
        run = reader.poll()
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - clock,
        "first_rows": first_rows,
        "first_alert": first_alert,
        "counts": [len(run.graph_executions), len(run.executions)],
        "alerts": run.num_alerts,
    }


def load_tensorflow(logdir: str) -> dict[str, Any]:
    started = time.perf_counter()
    from tensorflow.python.debug.lib import debug_events_monitors, debug_events_reader

    class Monitor(debug_events_monitors.InfNanMonitor):
        first = None

        def _noticed(self) -> None:
            if self.first is None and self._alerts:
                self.first = time.perf_counter() - started

        def on_execution(self, *args: object) -> None:
            super().on_execution(*args)
            self._noticed()

        def on_graph_execution_trace(self, *args: object) -> None:
            super().on_graph_execution_trace(*args)
            self._noticed()

    cpu, clock = time.process_time(), time.perf_counter()
    reader = debug_events_reader.DebugDataReader(logdir)
    monitor = Monitor(reader)
    reader.update()
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - clock,
        "first_rows": None,
        "first_alert": monitor.first,
        "counts": [reader.num_graph_execution_traces(), reader.num_executions()],
        "alerts": len(monitor.alerts()),
    }


def measure(reader: str, logdir: Path) -> dict[str, Any]:
    """Loads a logdir in a new process; adds its whole CPU time and peak memory."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    process = subprocess.Popen(
        [sys.executable, __file__, "--load", reader, str(logdir)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{reader} failed with status {status}")
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    result["peak_mb"] = usage.ru_maxrss / 1024
    result["process_cpu"] = usage.ru_utime + usage.ru_stime
    return result


def report(ours: list[dict[str, Any]], theirs: dict[str, Any] | None) -> None:
    best = min(ours, key=lambda result: result["cpu"])
    traces, executions = best["counts"]
    print(f"\n### {traces:,} traces + {executions:,} executions\n")
    print("| | tfdbg-tui | TensorFlow | ratio |\n|---|---|---|---|")
    rows = (
        ("load, CPU s", "cpu", 3),
        ("load, wall s", "wall", 3),
        ("process, CPU s", "process_cpu", 2),
        ("peak RSS, MB", "peak_mb", 0),
        ("first rows after start, s", "first_rows", 2),
        ("first alert after start, s", "first_alert", 2),
        ("alerts", "alerts", 0),
    )
    for title, key, digits in rows:
        other = theirs[key] if theirs else None
        ratio = f"{other / best[key]:.1f}×" if other and best[key] else ""
        cells = ["" if v is None else f"{v:,.{digits}f}" for v in (best[key], other)]
        print(f"| {title} | {cells[0]} | {cells[1]} | {ratio if key != 'alerts' else ''} |")
    if theirs and (theirs["counts"], theirs["alerts"]) != (best["counts"], best["alerts"]):
        print(f"\nThe readers disagree: {theirs['counts']}, {theirs['alerts']} alerts.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", type=Path, help="a FULL_HEALTH logdir by TensorFlow's writer")
    parser.add_argument("--traces", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--executions", type=int, default=256_000)
    parser.add_argument("--repeat", type=int, default=3, help="runs of ours; the best counts")
    parser.add_argument("--ours-only", action="store_true", help="skip TensorFlow's reader")
    parser.add_argument("--load", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.load:
        reader, logdir = args.load
        print(json.dumps((load_ours if reader == "ours" else load_tensorflow)(logdir)))
        return
    with tempfile.TemporaryDirectory(prefix="bench-reader-") as scratch:
        logdir = args.logdir
        if logdir is None:
            with tarfile.open(RECORDED) as archive:
                archive.extractall(scratch, filter="data")
            logdir = Path(scratch, RECORDED.name.removesuffix(".tar.xz"))
        for traces in args.traces:
            large = Path(scratch, f"{traces}")
            scale(logdir, large, traces, args.executions)
            theirs = None if args.ours_only else measure("tensorflow", large)
            report([measure("ours", large) for _ in range(args.repeat)], theirs)
            shutil.rmtree(large)


if __name__ == "__main__":
    main()
