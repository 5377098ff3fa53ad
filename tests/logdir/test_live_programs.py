"""Real programs, read while they run."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.logdir.synthetic import content, read
from tfdbg_tui.logdir import LogdirError, RunReader, list_runs
from tfdbg_tui.program import recording_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded

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


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; if not, lets it have the processor for a moment."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.05)
    return process.returncode is not None


def _wait_for(logdir: Path, process: subprocess.Popen[bytes]) -> RunReader:
    while True:
        assert not _ended(process), "it ended before it recorded anything"
        try:
            (files,) = list_runs(logdir)
        except LogdirError:
            continue
        if files.run_id is not None:
            return RunReader(files)


def test_tensorflows_writer_followed_to_the_end_is_a_fresh_opening(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    script = tmp_path / "train.py"
    script.write_text(_PROGRAM.format(enable=_ENABLE.format(logdir=str(logdir)), steps=60))
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    reader = _wait_for(logdir, process)
    sizes, answers = set(), []
    while not _ended(process):
        run = reader.poll()
        sizes.add(run.num_events)
        assert not run.state.prompt
        answers.append(run.state.writing)
        if run.graph_executions:
            assert run.graph_executions[len(run.graph_executions) - 1].wall_time
    assert process.returncode == 0
    assert len(sizes) > 3, "it was read while it grew"
    while reader.poll().state.writing:
        pass
    assert reader.poll().state.writing is False
    assert answers == sorted(answers, reverse=True), "it writes, until it has closed its files"
    assert answers[0]
    followed = reader.read_all()
    assert not followed.problems
    assert content(followed) == content(read(logdir))


def test_a_killed_program_under_our_writer(tmp_path: Path) -> None:
    logdir = tmp_path / "logdir"
    script = tmp_path / "train.py"
    script.write_text(_PROGRAM.format(enable="", steps=10**9))
    environment = recording_environment(str(logdir), {})
    command = [sys.executable, str(script)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        reader = _wait_for(logdir, process)
        run = reader.poll()
        while run.num_events < 2000:
            assert not _ended(process)
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


_EAGER = """\
import sys, tensorflow as tf, tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
for _ in range(20):  # many, so that they are read together
    tf.math.divide(tf.constant([[1.0, -2.0], [0.0, 4.0]]), tf.constant([0.0, 8.0]))
tf.square(2.0)
tf.gather(tf.constant([1.0, float("inf"), 3.0]), tf.constant([1, 2]))
"""


def test_inputs_of_bad_eager_ops_under_our_writer(tmp_path: Path, preloaded: Preloaded) -> None:
    recorded = preloaded.run(_EAGER, tmp_path / "logdir")
    assert recorded.returncode == 0, recorded.stderr
    run = read(tmp_path / "logdir")
    assert content(run) == content(read(tmp_path / "logdir", vectorised=False))
    bad = [run.executions[i] for i in run.executions.alert_rows[:].tolist()]
    quotients = [execution for execution in bad if execution.op_type == "RealDiv"]
    assert len(quotients) == 20
    assert not any(execution.inputs for execution in quotients[10:]), "they tell nothing new"
    for execution in quotients[:10]:
        top, bottom = execution.inputs
        assert (top.dtype, top.rank, top.size) == ("float32", 2, 4)
        assert (top.neg, top.zero, top.pos, top.minimum, top.maximum) == (1, 1, 2, -2.0, 4.0)
        assert (bottom.zero, bottom.pos, bottom.minimum, bottom.maximum) == (1, 1, 0.0, 8.0)
    (gathered,) = (execution for execution in bad if execution.op_type == "GatherV2")
    values, *others = gathered.inputs
    assert (values.pos_inf, values.minimum, values.maximum) == (1, 1.0, 3.0)
    assert others == [None, None], "whole numbers have no health"
    (good,) = (execution for execution in run.executions if execution.op_type == "Square")
    assert good.inputs == ()
