"""Diagnoses jobs of many processes, made of a recorded one by hard links, and joins summaries.

    python tests/benchmarks/bench_fleet.py [--processes 4 20] [--traces 1000000] [--joined 10 3000]

One process of a recorded job is scaled up as `bench_reader` does, and linked under as many names
as there are to be processes.  Prints, as Markdown, the CPU time of one `diagnose` of one of them,
and for each number of processes that of all with ``--jobs 1`` and ``--jobs 2``, children included:
where two do as much as one each, their CPU time is the same.  Then what joining costs, with
summaries of a whole recorded job under other tasks and clocks, and how many bytes one has.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench_reader import scale

from tfdbg_tui.diagnosis import (
    WorkerSummary,
    join,
    summaries_from_json,
    summaries_to_json,
    summarize,
)
from tfdbg_tui.logdir import Task, list_runs
from tfdbg_tui.logdir.processes import processes_of

JOBS = Path(__file__).parent.parent / "diagnosis" / "fleet" / "jobs.tar.xz"
SCALED = Path("loop_1_tf", "worker1")  # in FULL_HEALTH, as `scale` wants it
JOINED = "loop_1"
EXECUTIONS = 1000
SKEW = 5.0  # seconds that clocks differ by


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, nargs="*", default=[4, 20])
    parser.add_argument("--traces", type=int, default=1_000_000)
    parser.add_argument("--joined", type=int, nargs="*", default=[10, 100, 1000, 3000])
    parser.add_argument("--join", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.join:
        measure_join(arguments.join)
        return
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(JOBS) as archive:
            archive.extractall(scratch, filter="data")
        print("| processes | MB | `--jobs` | CPU s | of that of single ones | peak MB |")
        print("|--:|--:|--:|--:|--:|--:|")
        diagnose_all(Path(scratch), arguments.processes, arguments.traces)
        print("\n| summaries | bytes each | CPU s to read and join | peak MB |\n|--:|--:|--:|--:|")
        for count in arguments.joined:
            path = Path(scratch, f"{count}.json")
            path.write_text(summaries_to_json(summaries(Path(scratch, JOINED), count)), "utf-8")
            command = [sys.executable, __file__, "--join", str(path)]
            told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            print(f"| {count:,} | {path.stat().st_size // count:,} | {told.stdout.strip()} |")


def diagnose_all(scratch: Path, counts: list[int], traces: int) -> None:
    one = scratch / "one"
    scale(scratch / SCALED, one, traces, EXECUTIONS)
    megabytes = sum(path.stat().st_size for path in one.iterdir()) / 1e6
    single, peak = diagnose(one, 1)
    print(f"| 1 | {megabytes:,.0f} | 1 | {single:.1f} | 100 % | {peak:,.0f} |")
    for count in counts:
        together = scratch / f"of {count}"
        for number in range(count):
            directory = together / f"worker{number}"
            directory.mkdir(parents=True)
            for path in one.iterdir():
                os.link(path, directory / path.name)
        for jobs in (1, 2):
            cpu, peak = diagnose(together, jobs)
            share = single * count / cpu
            size = megabytes * count
            print(f"| {count} | {size:,.0f} | {jobs} | {cpu:.1f} | {share:.0%} | {peak:,.0f} |")


def diagnose(logdir: Path, jobs: int) -> tuple[float, float]:
    """Returns the CPU seconds that the command took, with its children, and the peak MB of one."""
    command = [sys.executable, "-m", "tfdbg_tui", "diagnose", str(logdir), "--json"]
    command += ["--jobs", str(jobs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert json.loads(done.stdout)["verdict"] == "bad", done.stderr
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1024


def summaries(logdir: Path, count: int) -> list[WorkerSummary]:
    """Returns summaries as of a job of so many workers, one of which has made a root."""
    recorded = [summarize(process) for process in processes_of(list_runs(str(logdir)))]
    healthy, guilty, _ = sorted(recorded, key=lambda one: one.task.index if one.task else -1)
    rng = random.Random(1)
    made = []
    for number in range(count):
        source = guilty if number == count // 3 else healthy
        ahead = rng.uniform(-SKEW, SKEW)
        made.append(
            replace(
                source,
                name=f"{source.name}-{number}",
                task=Task("worker", number, "cluster", count),
                started_at=(source.started_at or 0.0) + ahead,
                ended_at=source.ended_at + ahead,
                roots=tuple(replace(r, wall_time=r.wall_time + ahead) for r in source.roots),
                crossings=tuple(
                    replace(c, times=tuple((run, at + ahead) for run, at in c.times))
                    for c in source.crossings
                ),
            )
        )
    return made


def measure_join(path: Path) -> None:
    before = time.process_time()
    report = join(summaries_from_json(path.read_text("utf-8")))
    seconds = time.process_time() - before
    ((root,),) = (job.roots for job in report.jobs)
    assert len(root.reached) == len(report.jobs[0].members) - 1
    print(f"{seconds:.2f} | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f}")


if __name__ == "__main__":
    main()
