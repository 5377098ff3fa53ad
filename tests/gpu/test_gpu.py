"""The dump writer on a GPU: same results, the right op, nothing large copied; see README.md."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")
config = pytest.importorskip("tensorflow.python.framework.config")
# Each by itself: where the module is skipped as a whole, pytest ends with code 5, "no tests".
pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(
        not tf.config.list_physical_devices("GPU"),
        reason="TensorFlow finds no GPU on this machine",
    ),
]

import tfdbg_tui  # noqa: E402
from tests.dump import device_programs as programs  # noqa: E402
from tests.dump import dump_oracle as oracle  # noqa: E402
from tfdbg_tui import dump  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def _disabled() -> Iterator[None]:
    yield
    dump.disable_dump_debug_info()


def same_results(root: Path, mode: str, program: Callable[[], Any]) -> Any:
    """Run a program plainly and dumped, compare bit by bit, and return a reader of the dump."""
    plain = [np.asarray(value) for value in tf.nest.flatten(program())]
    tfdbg_tui.enable_dump_debug_info(str(root), mode, -1)
    dumped = [np.asarray(value) for value in tf.nest.flatten(program())]
    dump.disable_dump_debug_info()
    assert [(a.dtype, a.tobytes()) for a in dumped] == [(a.dtype, a.tobytes()) for a in plain]
    return oracle.open_reader(str(root))


def healthy_and_bad(calls: Iterable[Callable[[float], Any]]) -> list[Any]:
    return [call(divisor) for call in calls for divisor in (2.0, 0.0)]


@pytest.mark.parametrize("mode", programs.MODES)
def test_graphs_branches_and_loops(tmp_path: Path, mode: str) -> None:
    reader = same_results(tmp_path, mode, lambda: healthy_and_bad(programs.dtype_calls()))
    assert reader.graph_execution_traces()


@pytest.mark.parametrize("mode", programs.MODES)
def test_compiled(tmp_path: Path, mode: str) -> None:
    reader = same_results(tmp_path, mode, lambda: healthy_and_bad(programs.compiled_calls()))
    assert reader.graph_execution_traces()


@pytest.mark.parametrize("mode", programs.MODES)
def test_strings_and_lists(tmp_path: Path, mode: str) -> None:
    same_results(tmp_path, mode, lambda: [call() for call in programs.other_calls()])


@pytest.mark.parametrize("mode", programs.HEALTH_MODES)
@pytest.mark.parametrize("dtype", programs.FLOATS, ids=lambda dtype: dtype.name)
def test_eager(tmp_path: Path, mode: str, dtype: Any) -> None:
    values = tf.constant([1.0, np.inf, np.nan])
    same_results(tmp_path, mode, lambda: tf.cast(tf.cast(values * 1.0, dtype), tf.complex64))


def test_the_first_bad_op_is_found(tmp_path: Path) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x, name="the_root") * 2.0)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    step(tf.zeros([1000, 1000]))
    dump.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert [(root.op_name, root.op_type) for root in report.roots] == [("the_root", "Log")]
    assert "GPU:0" in report.roots[0].device


def keras_fit(*, scaled: bool, **compiling: Any) -> list[float]:
    import keras

    keras.utils.set_random_seed(1)
    keras.mixed_precision.set_global_policy("mixed_float16" if scaled else "float32")
    try:
        inputs = keras.layers.Input((64,))
        outputs = keras.layers.Dense(1)(keras.layers.Dense(256, activation="relu")(inputs))
        model = keras.Model(inputs, outputs)
        model.compile("adam", "mse", **compiling)
        x = np.linspace(-1.0, 1.0, 256 * 64, dtype=np.float32).reshape(256, 64)
        return list(model.fit(x, x[:, :1], epochs=2, shuffle=False, verbose=0).history["loss"])
    finally:
        keras.mixed_precision.set_global_policy("float32")


@pytest.fixture
def _deterministic() -> Iterator[None]:
    """Without it, sums differ in their last bits from run to run."""
    config.enable_op_determinism()
    yield
    config.disable_op_determinism()


@pytest.mark.usefixtures("_deterministic")
@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
@pytest.mark.parametrize("scaled", [False, True])
def test_keras(tmp_path: Path, mode: str, scaled: bool) -> None:
    same_results(tmp_path, mode, lambda: keras_fit(scaled=scaled, jit_compile=False))


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
@pytest.mark.parametrize("scaled", [False, True])
def test_keras_compiled(tmp_path: Path, mode: str, scaled: bool) -> None:
    """XLA fuses and tunes a function with our ops in another way: the last bits may differ."""
    plain = keras_fit(scaled=scaled, jit_compile=True)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    dumped = keras_fit(scaled=scaled, jit_compile=True)
    dump.disable_dump_debug_info()
    np.testing.assert_allclose(dumped, plain, rtol=1e-3)
    assert oracle.open_reader(str(tmp_path)).graph_execution_traces()


def test_replicas(tmp_path: Path) -> None:
    """Two replicas, on two GPUs where there are; what one computes is on record for each."""
    devices = tf.config.list_logical_devices("GPU")[:2]
    if len(devices) < 2:
        pytest.skip("one logical GPU: set TFDBG_TUI_LOGICAL_GPUS=2, see conftest.py")
    strategy = tf.distribute.MirroredStrategy([device.name for device in devices])

    @tf.function
    def step() -> Any:
        return strategy.reduce("SUM", strategy.run(lambda: tf.math.log(tf.ones([3]))), axis=None)

    reader = same_results(tmp_path, "ADAPTIVE", step)
    logs = [trace for trace in reader.graph_execution_traces() if trace.op_type == "Log"]
    assert len(logs) == 2


def test_memory_on_the_device_is_given_back(tmp_path: Path) -> None:
    def train() -> int:
        keras_fit(scaled=False)
        gc.collect()
        return int(tf.config.experimental.get_memory_info("GPU:0")["current"])

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    train()
    before = train()
    assert train() - before < _MEGABYTE


@pytest.mark.parametrize("mode", [mode for mode in programs.MODES if mode != "FULL_TENSOR"])
def test_nothing_large_is_copied(tmp_path: Path, mode: str) -> None:
    """The profiler sees the one copy of 4 MB that the test makes, and none of 2 MB beside it."""

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def step(x: Any) -> Any:
        for dtype in (tf.bfloat16, tf.float16, tf.complex64):
            x = tf.cast(tf.math.real(tf.cast(tf.cast(x + 1.0, dtype), tf.complex64)), tf.float32)
        return tf.reduce_sum(x)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "dump"), mode, -1)
    x = tf.ones([1024, 1024])
    step(x)
    tf.profiler.experimental.start(str(tmp_path / "profile"))
    step(x)
    x.numpy()
    tf.profiler.experimental.stop()
    assert 4 * _MEGABYTE <= copied_to_host(tmp_path / "profile") < 6 * _MEGABYTE


def copied_to_host(root: Path) -> int:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    total = 0
    for path in root.rglob("*.xplane.pb"):
        for plane in xplane_pb2.XSpace.FromString(path.read_bytes()).planes:
            if not plane.name.startswith("/device:GPU"):
                continue  # The host's has each copy once more, as a call of the driver.
            names = {key: stat.name for key, stat in plane.stat_metadata.items()}
            for line in plane.lines:
                for event in line.events:
                    if "MemcpyD2H" not in plane.event_metadata[event.metadata_id].name:
                        continue
                    stats = {
                        names[stat.metadata_id]: stat.str_value or names.get(stat.ref_value, "")
                        for stat in event.stats
                    }
                    fields = dict(field.split(":") for field in stats["memcpy_details"].split())
                    total += int(fields["size"])
    return total
