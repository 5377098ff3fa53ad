"""Real programs, read while they run."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from synthetic import content, read

from tfdbg_tui.logdir import LogdirError, RunReader, list_runs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.tensorflow

_ENABLE = """\
tf.debugging.experimental.enable_dump_debug_info(
    {logdir!r}, tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1
)
"""

_PROGRAM = """\
import tensorflow as tf
{enable}
@tf.function
def loss(weights, rows):  # traced anew for each number of rows: graphs come late
    for _ in tf.range(3):
        weights = tf.nn.relu(weights) * 0.99
    return tf.reduce_mean(tf.math.log(tf.matmul(rows, weights)))

weights = tf.Variable(tf.ones([4, 4]))
step = 0
while step < {steps}:
    with tf.GradientTape() as tape:
        value = loss(weights, tf.ones([1 + step // 10 % 12, 4]))
    weights.assign_sub(0.5 * tape.gradient(value, weights))
    step += 1
"""


def _wait_for(logdir: Path, process: subprocess.Popen[bytes]) -> RunReader:
    while True:
        assert process.poll() is None, "it ended before it recorded anything"
        try:
            (files,) = list_runs(logdir)
        except LogdirError:
            continue
        if files.run_id is not None:
            return RunReader(files)


def test_tensorflows_writer_followed_to_the_end_is_a_fresh_opening(tmp_path) -> None:
    logdir = tmp_path / "logdir"
    script = tmp_path / "train.py"
    script.write_text(_PROGRAM.format(enable=_ENABLE.format(logdir=str(logdir)), steps=120))
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    reader = _wait_for(logdir, process)
    sizes = set()
    while process.poll() is None:
        run = reader.poll()
        sizes.add(run.num_events)
        assert run.state.writing is None, "TensorFlow's file names tell no process"
        if run.graph_executions:
            assert run.graph_executions[len(run.graph_executions) - 1].wall_time
    assert process.returncode == 0
    assert len(sizes) > 3, "it was read while it grew"
    followed = reader.read_all()
    assert not followed.problems
    assert content(followed) == content(read(logdir))


def test_a_killed_program_under_our_writer(tmp_path) -> None:
    logdir = tmp_path / "logdir"
    script = tmp_path / "train.py"
    script.write_text(_PROGRAM.format(enable="", steps=10**9))
    command = [sys.executable, "-m", "tfdbg_tui.dump", "--dump-root", str(logdir), str(script)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        reader = _wait_for(logdir, process)
        run = reader.poll()
        while run.num_events < 2000:
            assert process.poll() is None
            assert run.state.writing is True
            run = reader.poll()
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    while reader.poll().state.writing:
        pass
    followed = reader.read_all()
    assert followed.state.writing is False
    assert all(problem.passing for problem in followed.problems)
    assert content(followed) == content(read(logdir))
