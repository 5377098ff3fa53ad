"""What comes out of containers, texts and Python functions is what was put into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def table() -> Any:
    return tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)


def keys() -> Any:
    return tf.constant([1, 2], tf.int64)


def eager_table() -> None:
    held = table()
    held.insert(keys(), 1.0 / tf.constant([1.0, 0.0]))
    held.lookup(keys())
    held.export()


def table_of_functions() -> None:
    held = table()

    @tf.function
    def put(x: Any) -> None:
        held.insert(keys(), tf.math.log(x))

    put(tf.constant([1.0, 0.0]))
    held.lookup(keys())
    tf.function(lambda: held.export()[1] * 2.0)()


def put_before_the_next() -> None:
    held = table()
    held.insert(keys(), tf.math.log(tf.constant([1.0, 0.0])))
    held.lookup(keys())
    held.insert(keys(), tf.math.sqrt(tf.constant([1.0, -3.0])))
    held.lookup(keys())


def queue_of_two() -> None:
    queue = tf.queue.FIFOQueue(2, [tf.float32, tf.float32], [[], []])

    @tf.function
    def root(x: Any) -> Any:
        return tf.math.rsqrt(x)

    @tf.function
    def put(x: Any) -> None:
        queue.enqueue((x * 2.0, root(x)))

    put(tf.constant(0.0))
    tf.function(lambda: queue.dequeue()[1] + 1.0)()


def map_of_tensors() -> None:
    @tf.function
    def double(x: Any) -> Any:
        kept = tf.raw_ops.TensorMapInsert(
            input_handle=tf.raw_ops.EmptyTensorMap(), key=tf.constant(1), value=tf.math.log(x)
        )
        found = tf.raw_ops.TensorMapLookup(
            input_handle=kept, key=tf.constant(1), value_dtype=tf.float32
        )
        return found * 2.0

    double(tf.constant(0.0))


def through_text() -> None:
    @tf.function
    def double(x: Any) -> Any:
        return tf.io.parse_tensor(tf.io.serialize_tensor(tf.math.exp(x)), tf.float32) * 2.0

    double(tf.constant([1.0, 1000.0]))
    text = tf.strings.as_string(tf.math.log(tf.constant([0.0, 1.0])))
    tf.strings.to_number(text)


def through_python() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x * 2.0

    def in_python(x: Any) -> Any:
        return tf.reduce_mean(inner(x))

    @tf.function
    def outer(x: Any) -> Any:
        return tf.py_function(in_python, [tf.math.log1p(x)], tf.float32) + 1.0

    outer(tf.constant([-2.0, 1.0]))


def in_sessions() -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        sums = v1.ConditionalAccumulator(tf.float32, shape=[])
        put_sum, sum_taken = sums.apply_grad(tf.math.log(x)), sums.take_grad(1) * 2.0
        stage = tf.raw_ops.Stage(values=[tf.sqrt(x - 1.0)], shared_name="containers")
        taken = tf.raw_ops.Unstage(dtypes=[tf.float32], shared_name="containers")[0] + 1.0
        with v1.Session() as session:
            for put, take in ((put_sum, sum_taken), (stage, taken)):
                session.run(put, {x: 0.0})
                session.run(take)


def reciprocals() -> Any:
    return tf.data.Dataset.from_tensor_slices([0.0, 1.0]).map(lambda x: tf.stack([1.0 / x, 2.0]))


def sparse_elements() -> None:
    for x in reciprocals().map(tf.sparse.from_dense).batch(2):
        tf.sparse.reduce_sum(x)


def ragged_elements() -> None:
    for x in reciprocals().map(lambda x: tf.ragged.stack([x, x[:1]])):
        x * 2.0


def ragged_results_of_a_map() -> None:
    def logs(x: Any) -> Any:
        return tf.RaggedTensor.from_row_lengths(tf.math.log(x), [1, 1])

    spec = tf.RaggedTensorSpec([2, None], tf.float32)
    tf.map_fn(logs, tf.constant([[0.0, 1.0], [2.0, 3.0]]), fn_output_signature=spec)


def sparse_data() -> None:
    element = tf.SparseTensor([[0]], [float("nan")], [2])
    spec = tf.SparseTensorSpec([2], tf.float32)
    for x in tf.data.Dataset.from_generator(lambda: iter([element]), output_signature=spec):
        tf.sparse.reduce_sum(x)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (eager_table, ["RealDiv"]),
        (table_of_functions, ["Log"]),
        (put_before_the_next, ["Log", "Sqrt"]),
        (queue_of_two, ["Rsqrt"]),
        (map_of_tensors, ["Log"]),
        (through_text, ["Exp", "Log"]),
        (through_python, ["Log1p"]),
        (in_sessions, ["Log", "Sqrt"]),
        (sparse_elements, ["RealDiv"]),
        (ragged_elements, ["RealDiv"]),
        (ragged_results_of_a_map, ["Log"]),
        (sparse_data, ["DeserializeSparse"]),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_roots(tmp_path: Path, program: Callable[[], None], wanted: list[str]) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    assert [root.op_type for root in report.roots] == wanted
