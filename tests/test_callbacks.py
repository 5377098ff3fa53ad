"""Numbers of the dump beside the loss of Keras' `fit`."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")

import tfdbg_tui  # noqa: E402
from tfdbg_tui import callbacks  # noqa: E402
from tfdbg_tui.dump.keras_steps import program_keras  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def test_each_epoch_has_its_numbers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    layer = keras.layers.Dense(2, dtype="mixed_float16", use_bias=False)
    model = keras.Sequential([keras.Input((4,)), layer])
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
    x, y = np.full((8, 4), 6.5504, np.float32), np.zeros((8, 2), np.float32)
    watch = callbacks.WatchCallback()
    spoil = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, _: layer.set_weights(
            [np.full((4, 2), [100.0, math.nan][epoch])]
        )
    )
    given = {"batch_size": 4, "verbose": 0, "callbacks": [watch, spoil]}
    history = model.fit(x, y, epochs=1, **given).history
    assert "no dump is on" in caplog.text
    assert "largest" not in history
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        history = model.fit(x, y, epochs=2, **given).history
        watched = callbacks.Watched()
        watched.numbers()
        keras.ops.multiply(np.float32(1e30), np.float32(10.0))
        eager = watched.numbers()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert history["bad_tensors"][0] == 0 < history["bad_tensors"][1]
    assert history["largest"][0] > 2600
    gradient = 4 * 6.55 * (2 * 2620 / 8)  # in float16 too, and larger than what goes forward
    assert history["headroom"][0] == pytest.approx(math.log10(65504 / gradient), abs=0.01)
    assert eager is not None
    assert eager.headroom == pytest.approx(math.log10(3.4e38 / 1e31), abs=0.01)


@pytest.mark.parametrize("jit", [False, True])
def test_sums_that_metrics_keep_are_not_the_largest(tmp_path: Path, *, jit: bool) -> None:
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    model = keras.Sequential([keras.Input((4,)), layer])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"], jit_compile=jit)
    x, y = np.full((16, 4), 25.0, np.float32), np.zeros((16, 1), np.float32)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        watch = callbacks.WatchCallback()
        history = model.fit(x, y, batch_size=1, verbose=0, callbacks=[watch]).history
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert history["largest"] == [100.0**2]  # the loss of each of the 16


@pytest.mark.parametrize("are_steps", [False, True])
def test_of_each_epoch_something_is_measured(tmp_path: Path, *, are_steps: bool) -> None:
    """Though only one step in a hundred is, after the first two hundred."""
    epochs, batches = 25, 10
    layer = keras.layers.Dense(1, use_bias=False)
    model = keras.Sequential([keras.Input((1,)), layer])
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
    grow = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, _: layer.set_weights([np.full((1, 1), 10.0 + epoch)])
    )
    watch = callbacks.WatchCallback()
    marks = [tfdbg_tui.dump.StepCallback()] if are_steps else []
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        history = model.fit(
            np.ones((batches, 1)),
            np.zeros((batches, 1)),
            epochs=epochs,
            batch_size=1,
            verbose=0,
            callbacks=[*marks, watch, grow],
        ).history
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert history["largest"] == [(10.0 + epoch) ** 2 for epoch in range(epochs)]


def test_what_tensorboard_is_told_is_no_number_of_the_next_epoch(tmp_path: Path) -> None:
    layer = keras.layers.Dense(1, use_bias=False)
    model = keras.Sequential([keras.Input((1,)), layer])
    model.compile(keras.optimizers.SGD(0.0), "mse", jit_compile=False)
    shrink = keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, _: layer.set_weights([np.full((1, 1), 10.0 - epoch)])
    )
    board = keras.callbacks.TensorBoard(str(tmp_path / "board"))
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "dump"), "ADAPTIVE", -1)
    try:
        history = model.fit(
            np.ones((1, 1)),
            np.zeros((1, 1)),
            epochs=3,
            verbose=0,
            callbacks=[callbacks.WatchCallback(), board, shrink],
        ).history
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert history["largest"] == [100.0, 81.0, 64.0]


def test_what_was_not_measured_is_no_number(tmp_path: Path) -> None:
    """NaN in the logs would be NaN in the program: TensorBoard makes a tensor of it."""
    watched = callbacks.Watched()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        assert watched.numbers() == callbacks.Numbers(0, None, None)
        keras.ops.multiply(np.float32(2.0), np.float32(3.0))
        before = watched.numbers()
        tfdbg_tui.set_recording(False)
        keras.ops.multiply(np.float32(2.0), np.float32(30.0))
        assert before is not None
        assert before.largest == 6.0
        assert watched.numbers() == before
    finally:
        tfdbg_tui.disable_dump_debug_info()


@pytest.mark.parametrize(
    ("others", "legacy", "is_old"), [(False, "", True), (True, "1", True), (True, "", False)]
)
def test_the_callbacks_are_of_the_keras_that_the_program_uses(
    monkeypatch: pytest.MonkeyPatch, others: bool, legacy: str, is_old: bool
) -> None:
    old = ModuleType("tf_keras")
    monkeypatch.setitem(sys.modules, "tf_keras", old)
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", legacy)
    if not others:
        monkeypatch.delitem(sys.modules, "keras")
    assert (program_keras() is old) == is_old
