"""Programs that are killed leave a logdir that can be read; none is killed by being watched."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.logdir import list_runs, open_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded

pytestmark = pytest.mark.tensorflow

PROGRAM = """
import itertools, sys, tensorflow as tf, tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "CONCISE_HEALTH", int(sys.argv[2]))
# Only possible as long as nothing has started TensorFlow, which to enable a dump must not do.
tf.config.threading.set_inter_op_parallelism_threads(2)
function = tf.function(lambda x: tf.math.log(x) * 2.0)
for number in itertools.count():
    with tfdbg_tui.step(number):
        function(tf.ones([3 + number % 50]))
    print(number, flush=True)
"""


@pytest.mark.parametrize("size", [-1, 200])
def test_kill_9(tmp_path: Path, size: int) -> None:
    from tests.dump import dump_oracle as oracle

    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(size)]
    seen: list[tuple[float, int]] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as p:
        assert p.stdout is not None
        for line in p.stdout:
            seen.append((time.monotonic(), int(line)))
            if seen[-1][1] > 300 and seen[-1][0] - seen[0][0] > 4.0:
                break
        killed = time.monotonic()
        p.kill()
    assert open_run(tmp_path).state.killed
    # TensorFlow's reader resolves every graph, op and stack frame, so it proves the references.
    reader = oracle.open_reader(str(tmp_path))
    executions = reader.executions()
    calls = [e for e in executions if e.op_type.startswith("__inference_")]
    for digest in executions:
        assert reader.read_execution_stack_trace(reader.read_execution(digest))[1]
    names = {trace.op_name for trace in reader.graph_execution_traces()}
    assert {"Log", "mul"} <= names
    for trace in reader.graph_execution_traces()[-50:]:
        assert reader.read_graph_op_creation_stack_trace(
            reader.graph_by_id(trace.graph_id).get_op_creation_digest(trace.op_name)
        )[1]
    # The machine of a test may be slow, so three seconds instead of a quarter of one.
    expected = max((number for moment, number in seen if moment < killed - 3.0), default=0)
    assert expected > 0
    last = max(reader.read_execution(e) and e.wall_time for e in calls)
    first = min(e.wall_time for e in calls)
    assert last - first > 0
    if size < 0:
        assert len(calls) >= expected
    else:
        assert min(size, expected) <= len(executions) <= 2 * size + 200


FAILS_UNDER_XLA = """
import gc, sys, tensorflow as tf, tfdbg_tui
tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)

@tf.function(jit_compile=True)
def loop(x):
    return tf.while_loop(lambda y: y < 5.0, lambda y: [y * x], [x], maximum_iterations=3)[0]

x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    try:
        loop(x)
    except tf.errors.UnimplementedError:  # the tape needs lists of tensors, which XLA cannot return
        del loop
gc.collect()
print("alive")
"""


def test_a_compiled_function_that_fails_leaves_the_memory_whole(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    done = preloaded.run(FAILS_UNDER_XLA, tmp_path)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]


WORKER = """
import multiprocessing, os, sys, tensorflow as tf, tfdbg_tui

def work(results):
    tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
    tf.config.threading.set_inter_op_parallelism_threads(2)  # Nothing has started TensorFlow.
    log = tf.function(tf.math.log)
    log(tf.zeros([1]))
    results.send("a result")
    if sys.argv[2] == "is at work":
        log(tf.zeros([1]))
        os.write(begun[1], b"!")
    results.recv()

contexts = multiprocessing.get_context("fork")
begun, (mine, its) = os.pipe(), contexts.Pipe()
worker = contexts.Process(target=work, args=[its])
worker.start()
mine.recv()
if sys.argv[2] == "is at work":
    os.read(begun[0], 1)
worker.terminate()
worker.join()
print(worker.exitcode)
"""


@pytest.mark.parametrize("worker", ["waits", "is at work"])
def test_what_a_process_computes_is_on_record_before_its_result_is_handed_over(
    tmp_path: Path, preloaded: Preloaded, worker: str
) -> None:
    done = preloaded.run(WORKER, tmp_path, worker)
    assert (done.returncode, done.stdout) == (0, "-15\n"), done.stderr[-2000:]
    run = open_run(tmp_path)
    assert len(run.graph_executions) >= 1
    assert run.state.killed is (worker == "is at work")
    assert run.state.ended is (worker == "waits")


POOL = """
import multiprocessing, sys, tensorflow as tf, tfdbg_tui

def begin():
    tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
    tf.config.threading.set_inter_op_parallelism_threads(2)  # Nothing has started TensorFlow.
    both_run.wait()

context = multiprocessing.get_context("fork")
both_run = context.Barrier(2)
with context.Pool(2, begin) as pool:
    pool.map(tf.math.log, [0.0, 1.0, 2.0, 3.0], chunksize=1)
"""


def test_workers_that_record_by_themselves_are_of_one_run(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    done = preloaded.run(POOL, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    (run,) = list_runs(tmp_path)
    assert len(run.file_sets) == 2
    assert open_run(tmp_path).num_alerts == 1
