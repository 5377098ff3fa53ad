"""How a dump starts under `tfdbg-tui run`: when the program has imported TensorFlow, not before."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import tfdbg_tui
from tfdbg_tui.program import recording_environment

if TYPE_CHECKING:
    from pathlib import Path

    from tfdbg_tui.logdir import Run

pytestmark = pytest.mark.tensorflow

NO_BACKEND = "Unable to import backend : no_such_backend"

CHOOSES = """\
import atexit
atexit.register(lambda: tf.math.log(0.0))
import os, sys, threading
os.environ["KERAS_BACKEND"] = "no_such_backend"
try:
    import keras
except ValueError as error:
    print(error)
for name in [name for name in sys.modules if name.split(".")[0] == "keras"]:
    del sys.modules[name]
del os.environ["KERAS_BACKEND"]

def first():
    import tensorflow.python.framework.ops

thread = threading.Thread(target=first)
thread.start()
thread.join()
from tensorflow.python.eager import context
assert context.context_safe() is None, "no context before the program makes one"
import tensorflow as tf
tf.compat.v1.enable_eager_execution(
    config=tf.compat.v1.ConfigProto(intra_op_parallelism_threads=2),
)
tf.config.threading.set_inter_op_parallelism_threads(2)
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
assert len(tf.config.list_logical_devices("CPU")) == 2
assert "tfdbg_tui.cli" not in sys.modules
import keras
class Counts(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print(batch)

batches = keras.callbacks.CallbackList([Counts()])
batches.on_train_batch_begin(1)
batches.on_train_batch_end(1)
tf.function(lambda x: tf.math.log(x), autograph=False)(tf.zeros([1]))
try:
    tf.function(lambda x: tf.reshape(x, [3]))(tf.ones([2]))
except ValueError as error:
    import traceback
    assert "tfdbg_tui" not in "".join(traceback.format_exception(error))
try:
    tf.function(lambda x, n: tf.reshape(x, n))(tf.ones([2]), tf.constant([3]))
except tf.errors.InvalidArgumentError as error:
    assert "tfdbg_tui" not in "".join(traceback.format_exception(error)) + error.message
"""


def test_the_program_chooses_before_the_dump_starts(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(CHOOSES)
    logdir = str(tmp_path / "logdir")
    result = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=recording_environment(logdir, {}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, f"{NO_BACKEND}\n1\n"), result.stderr
    run = tfdbg_tui.open_run(logdir)
    logs = [execution for execution in run.executions if execution.op_type == "Log"]
    assert len(logs) == 1, "what the program does at exit is recorded"
    assert any(trace.op_type == "Log" for trace in run.graph_executions)


CHILDREN = """\
import multiprocessing, os, sys

def work():
    import tensorflow as tf
    tf.math.log(0.0)

if __name__ == "__main__":
    if len(sys.argv) == 1:
        for method in ("spawn", "fork"):
            child = multiprocessing.get_context(method).Process(target=work)
            child.start()
            child.join()
            assert child.exitcode == 0
        os.execv(sys.executable, [sys.executable, *sys.argv, "again"])
    work()
"""


def recorded(directory: Path, source: str) -> Run:
    """Return what is on record of a program that knows nothing of the dump."""
    (directory / "program.py").write_text(source)
    logdir = str(directory / "logdir")
    subprocess.run(
        [sys.executable, "program.py"],
        cwd=directory,
        env=recording_environment(logdir, {}),
        timeout=500,
        check=True,
    )
    return tfdbg_tui.open_run(logdir)


OTHER_KERAS = """\
from types import SimpleNamespace

class CallbackList:
    def begin(self, *args):
        pass

    on_epoch_begin = on_train_batch_begin = on_test_begin = begin
    on_train_batch_end = on_train_end = begin

callbacks = SimpleNamespace(CallbackList=CallbackList)
backend = SimpleNamespace(backend=lambda: "jax")
"""

IMPORTS_TENSORFLOW_LATER = """\
import keras
import sys
assert "tensorflow" not in sys.modules
import tensorflow as tf
batches = keras.callbacks.CallbackList()
batches.on_epoch_begin(0)
batches.on_train_batch_begin(0)
tf.math.sin(1.0)
"""


def test_a_keras_of_another_library_comes_before_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "keras.py").write_text(OTHER_KERAS)
    run = recorded(tmp_path, IMPORTS_TENSORFLOW_LATER)
    (sin,) = (execution for execution in run.executions if execution.op_type == "Sin")
    assert sin.step == 0
    report = tfdbg_tui.diagnose(run)
    assert report.verdict == "incomplete"
    assert any("what Keras computes with jax" in gap.text for gap in report.gaps)


def test_python_children_are_recorded_as_processes_of_the_run(tmp_path: Path) -> None:
    run = recorded(tmp_path, CHILDREN)
    logs = [execution for execution in run.executions if execution.op_type == "Log"]
    assert len(logs) == 3
    assert run.state.writing is False


LOADED_BY_CHILDREN = """\
import multiprocessing
import tensorflow as tf

def work(value):
    return float(tf.math.log(value))

if __name__ == "__main__":
    contexts = multiprocessing.get_context("forkserver")
    child = contexts.Process(target=work, args=[1.0])  # which ends without exit functions
    child.start()
    child.join()
    with contexts.Pool(1) as pool:  # which ends its process by SIGTERM
        pool.map(work, [1.0])
"""


def test_children_that_load_the_program_end_their_dumps(tmp_path: Path) -> None:
    run = recorded(tmp_path, LOADED_BY_CHILDREN)
    assert [e.op_type for e in run.executions].count("Log") == 2
    assert (run.state.ended, run.state.killed) == (True, False)


IMPORTS = """\
import sys
import tensorflow as tf
before = set(sys.modules)
import tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
tf.function(lambda x: tf.math.log(x))(tf.zeros([1]))
tfdbg_tui.disable_dump_debug_info()
names = {name.split(".")[0] for name in set(sys.modules) - before}
print(sorted(names & sys.stdlib_module_names))
"""


def test_the_writer_imports_nothing_that_a_file_of_the_program_may_be_named_like(
    tmp_path: Path,
) -> None:
    """What TensorFlow has imported itself is there already."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
