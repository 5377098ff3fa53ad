"""`fit` in a program that knows nothing of steps, run under the dump writer."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import tfdbg_tui
from tfdbg_tui.program import recording_environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.tensorflow

PROGRAM = """\
import keras
import numpy as np

class WithoutOptimizer(keras.Model):
    def train_step(self, batch):
        return {"loss": self(batch)}

    def call(self, x):
        return keras.ops.mean(x)

ones = np.ones((24, 2), "float32")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(ones, ones[:, :1], batch_size=8, epochs=2, verbose=0)
model.fit(ones, ones[:, :1], batch_size=4, verbose=0)
bare = WithoutOptimizer()
bare.compile(optimizer=None)
bare.fit(ones, batch_size=4, verbose=0)
"""


def test_batches_of_fit_are_steps(tmp_path: Path) -> None:
    script, logdir = tmp_path / "train.py", tmp_path / "logdir"
    script.write_text(PROGRAM)
    environment = recording_environment(str(logdir), {"every": 5})
    subprocess.run(
        [sys.executable, script], env=environment, check=True, capture_output=True, timeout=120
    )
    run = tfdbg_tui.open_run(logdir)
    steps = [
        execution.step
        for execution in run.executions
        if "step_on_iterator" in execution.op_type and execution.step is not None
    ]
    assert steps == [0, 5, 10, 15]  # every fit goes on, also that of another model
    batches = [run.fit_batch(step) for step in (0, 2, 3, 5, 6, 11, 12, 17, 18)]
    told = [batch and (batch.epoch, batch.batch, batch.fit) for batch in batches]
    assert told == [
        *[(1, 1, 1), (1, 3, 1), (2, 1, 1), (2, 3, 1)],
        *[(1, 1, 2), (1, 6, 2), (1, 1, 3), (1, 6, 3)],
        None,
    ]


OF_UNKNOWN_LENGTH = """\
import keras
import numpy as np
import tensorflow as tf

def batches():
    for _ in range(3):
        yield np.ones((4, 2), "float32"), np.ones((4, 1), "float32")

signature = tf.TensorSpec((4, 2)), tf.TensorSpec((4, 1))
data = tf.data.Dataset.from_generator(batches, output_signature=signature)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, verbose=0)
model.fit(data, epochs=2, validation_data=data.take(1), verbose=0)
"""


def test_the_attempt_that_finds_no_more_data_is_no_step(tmp_path: Path) -> None:
    """What comes after it, as a validation, is in none, and the next epoch goes on from there."""
    script, logdir = tmp_path / "train.py", tmp_path / "logdir"
    script.write_text(OF_UNKNOWN_LENGTH)
    subprocess.run(
        [sys.executable, script],
        env=recording_environment(str(logdir), {}),
        check=True,
        capture_output=True,
        timeout=120,
    )
    run = tfdbg_tui.open_run(logdir)
    steps = run.executions.steps
    assert steps.numbers.tolist() == list(range(9))
    told = [batch and (batch.epoch, batch.batch) for batch in map(run.fit_batch, range(9))]
    assert told == [(epoch, batch) for epoch in (1, 1, 2) for batch in (1, 2, 3)]
    last = max(row for row in range(len(run.executions)) if steps.of(row) is None)
    assert steps.before(last) == 8


@pytest.mark.parametrize("from_pipeline", [False, True])
def test_what_is_made_outside_of_steps_is_of_none(tmp_path: Path, from_pipeline: bool) -> None:
    """A pipeline makes data in advance: it is of the step in which the data is used."""
    tf = pytest.importorskip("tensorflow")
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        data = tf.data.Dataset.from_tensors([0.0, 1.0]).repeat(3)
        made = data.map(tf.math.log) if from_pipeline else [tf.math.log([0.0, 1.0])] * 3
        for step, batch in enumerate(made):
            tfdbg_tui.step(step)
            tf.reduce_sum(batch * 2.0)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (root,) = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).roots
    assert root.title == "Logarithm of zero"
    assert (root.step is None, root.when == "") == (not from_pipeline, not from_pipeline)
