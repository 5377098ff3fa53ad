"""Jobs of several processes with a known root: how they are started and what is to be found.

    python -m tests.diagnosis.fleet.jobs OUT [NAME ...]

runs each job on this machine and leaves its logdirs in ``OUT/NAME``.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tfdbg_tui.program import recording_environment

PROGRAMS = Path(__file__).with_name("programs.py")
LONGEST = 150  # seconds that a job may take


@dataclass(frozen=True)
class Job:
    """A job and what is wrong with it.

    Attributes:
        program: Function in `programs`.
        workers: Number of worker processes.
        root: Tasks whose data is bad, as in "1"; "" for none.
        op: Type of the op that makes the first bad value; "" for a healthy job.
        writer: "tfdbg_tui" or "tensorflow".
        apart: Whether each process has a directory of its own.
        others: Further tasks, as a parameter server and a coordinator.
    """

    program: str
    workers: int = 2
    root: str = ""
    op: str = ""
    writer: str = "tfdbg_tui"
    apart: bool = False
    others: tuple[str, ...] = ()


def _by_tensorflow(
    program: str, workers: int, root: str = "", op: str = "", others: tuple[str, ...] = ()
) -> Job:
    """Returns a job that TensorFlow's writer records.

    It names its files by second and host: processes of one host need a directory each.
    """
    return Job(program, workers, root, op, writer="tensorflow", apart=True, others=others)


JOBS = {  # each has one root or none
    "loop_0": Job("custom_loop", 3, "0", "Log"),
    "loop_1": Job("custom_loop", 3, "1", "Log"),
    "loop_2_apart": Job("custom_loop", 3, "2", "Log", apart=True),
    "loop_all": Job("custom_loop", 3, "0,1,2", "Log"),
    "loop_healthy": Job("custom_loop", 3),
    "loop_0_tf": _by_tensorflow("custom_loop", 2, "0", "Log"),
    "loop_1_tf": _by_tensorflow("custom_loop", 3, "1", "Log"),
    "loop_all_tf": _by_tensorflow("custom_loop", 2, "0,1", "Log"),
    "loop_healthy_tf": _by_tensorflow("custom_loop", 2),
    "loop_of_four": Job("custom_loop", 4, "3", "Log"),
    "eager_1": Job("eager_loop", 2, "1", "RealDiv"),
    "eager_0_tf": _by_tensorflow("eager_loop", 2, "0", "RealDiv"),
    "eager_healthy": Job("eager_loop", 2),
    "steps_1": Job("marked_steps", 3, "1", "SqrtGrad", apart=True),
    "steps_0_tf": _by_tensorflow("marked_steps", 2, "0", "SqrtGrad"),
    "keras_0": Job("keras_model", 2, "0", "RealDiv"),
    "keras_1": Job("keras_model", 2, "1", "RealDiv", apart=True),
    "keras_1_tf": _by_tensorflow("keras_model", 2, "1", "RealDiv"),
    "keras_healthy": Job("keras_model", 2),
    "fit_0": Job("keras_fit", 1, "0", "RealDiv"),
    "fit_1": Job("keras_fit", 1, "1", "RealDiv"),
    "gather_0": Job("gather", 2, "0", "Sqrt"),
    "gather_1_tf": _by_tensorflow("gather", 2, "1", "Sqrt"),
    "exchange_0": Job("all_to_all", 2, "0", "Sqrt"),
    "exchange_0_tf": _by_tensorflow("all_to_all", 2, "0", "Sqrt"),
    "broadcast_0": Job("broadcast", 3, "0", "Log"),
    "broadcast_0_tf": _by_tensorflow("broadcast", 2, "0", "Log"),
    "overflow": Job("overflow", 2, "0,1", "CollectiveReduceV2"),
    "overflow_tf": _by_tensorflow("overflow", 2, "0,1", "CollectiveReduceV2"),
    "mirrored_0": Job("mirrored", 1, "0", "Log"),
    "mirrored_1": Job("mirrored", 1, "1", "Log"),
    "mirrored_1_tf": _by_tensorflow("mirrored", 1, "1", "Log"),
    "mirrored_healthy": Job("mirrored", 1),
    "server_0": Job("parameter_server", 2, "0", "Log", others=("ps", "chief")),
    "server_healthy": Job("parameter_server", 2, others=("ps", "chief")),
}
OTHER_JOBS = {
    "two_bugs": Job("two_bugs", 2, "0,1", apart=True),
    "two_bugs_tf": _by_tensorflow("two_bugs", 2, "0,1"),
}


def run_job(name: str, job: Job, directory: Path) -> list[int]:
    """Runs a job and returns the exit codes of its processes."""
    tasks = [("worker", index) for index in range(job.workers)]
    tasks += [(kind, 0) for kind in job.others]
    ports = _free_ports(len(tasks))
    cluster: dict[str, list[str]] = {}
    for (kind, _), port in zip(tasks, ports, strict=True):
        cluster.setdefault(kind, []).append(f"127.0.0.1:{port}")
    processes = []
    for kind, index in tasks:
        logdir = directory / f"{kind}{index}" if job.apart else directory
        logdir.mkdir(parents=True, exist_ok=True)
        with (directory.parent / f"{name}.{kind}{index}.log").open("w") as log:
            processes.append(
                subprocess.Popen(
                    _command(job, str(logdir)),
                    env={**_environment(job, str(logdir)), **_config(cluster, kind, index)},
                    stdout=log,
                    stderr=log,
                )
            )
    return _wait(processes[: job.workers] if not job.others else processes[-1:], processes)


def _config(cluster: dict[str, list[str]], kind: str, index: int) -> dict[str, str]:
    if sum(map(len, cluster.values())) == 1:
        return {}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}


def _command(job: Job, logdir: str) -> list[str]:
    if job.writer == "tensorflow":
        return [sys.executable, "-m", __spec__.name, "--dump", logdir, job.program]
    return [sys.executable, str(PROGRAMS), job.program]


def _environment(job: Job, logdir: str) -> dict[str, str]:
    plain = {**os.environ, "JOB_ROOT": job.root, "TF_CPP_MIN_LOG_LEVEL": "3"}
    plain |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_NUM_INTRAOP_THREADS": "1"}
    if job.writer == "tensorflow":
        return plain
    return {**plain, **_added(recording_environment(logdir, {"tensor_debug_mode": "ADAPTIVE"}))}


def _added(environment: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in environment.items() if os.environ.get(name) != text}


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


Process = subprocess.Popen[bytes]


def _wait(awaited: list[Process], processes: list[Process]) -> list[int]:
    """Waits for some processes and ends the others."""
    deadline = time.monotonic() + LONGEST
    for process in awaited:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=max(1.0, deadline - time.monotonic()))
    for process in processes:
        if process.poll() is None:
            process.terminate()
    return [process.wait() for process in processes]


def _dump_with_tensorflow(logdir: str, program: str) -> None:
    import tensorflow as tf

    tf.debugging.experimental.enable_dump_debug_info(
        logdir, tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1
    )
    sys.argv = [str(PROGRAMS), program]
    runpy.run_path(str(PROGRAMS), run_name="__main__")
    tf.debugging.experimental.disable_dump_debug_info()


def main() -> None:
    if sys.argv[1] == "--dump":
        _dump_with_tensorflow(*sys.argv[2:])
        return
    out, *names = sys.argv[1:]
    jobs = JOBS | OTHER_JOBS
    for name in names or jobs:
        print(name, run_job(name, jobs[name], Path(out, name)), flush=True)


if __name__ == "__main__":
    main()
