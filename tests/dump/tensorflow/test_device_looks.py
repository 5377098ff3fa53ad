"""Which eager tensors are looked at together, and that all of them are."""

from __future__ import annotations

import random

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tfdbg_tui.dump.encode import summaries  # noqa: E402
from tfdbg_tui.dump.tensorflow import device_looks  # noqa: E402
from tfdbg_tui.dump.tensorflow.device_looks import chunks, counts_in  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402


def test_few_of_a_type_and_of_few_elements_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_looks, "_MAX_TOGETHER", 4)
    monkeypatch.setattr(device_looks, "_MAX_COPIED", 10)
    random.seed(1)
    types = (tf.float32, tf.float16, tf.complex64)
    tensors = [tf.ones([random.choice((0, 1, 2, 3, 14))], random.choice(types)) for _ in range(200)]
    parts = chunks(tensors)
    assert sorted(id(tensor) for part in parts for tensor in part) == sorted(map(id, tensors))
    for part in parts:
        assert len({tensor.dtype for tensor in part}) == 1
        assert len(part) == 1 or (len(part) <= 4 and sum(t.shape[0] for t in part) <= 10)
    assert len(parts) < 120


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("bad", ["nan", "inf", "-inf"])
def test_one_bad_element_of_many_tensors_is_seen(dtype: str, bad: str) -> None:
    healthy = [tf.cast(tf.fill(shape, 3e4), dtype) for shape in ([], [3], [2, 0], [2, 3])]
    parts = [[*healthy, tf.cast(float(last), dtype)] for last in ("1", bad)]
    found = device_looks.to_host(list(map(device_looks.all_finite, parts)))
    assert [are_finite for (are_finite,) in found] == [1.0, 0.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_the_elements_of_each_of_many_tensors_are_counted(dtype: str) -> None:
    """Tensors end within lines, at their ends, or have no element."""
    generator = np.random.default_rng(1)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -3e4])
    line = device_looks._LINE
    for sizes in ([0, 0], [line], [0, 1, line - 1, 0, line, 5], [3 * line + 1, 7, 0, 0]):
        parts = [tf.cast(tf.constant(generator.choice(values, size)), dtype) for size in sizes]
        wanted = [summaries.health_counts(part.numpy()).values()[:7] for part in parts]
        for name, columns in ("CONCISE_HEALTH", 4), ("FULL_HEALTH", 7):
            mode = TensorDebugMode[name]
            (found,) = device_looks.to_host([device_looks.counts(parts, mode)])
            assert counts_in(found, parts, mode) == [list(each[:columns]) for each in wanted]


@pytest.mark.parametrize(("mode", "columns"), [("CONCISE_HEALTH", 4), ("FULL_HEALTH", 7)])
def test_a_large_tensor_is_not_copied(
    monkeypatch: pytest.MonkeyPatch, mode: str, columns: int
) -> None:
    monkeypatch.setattr(device_looks, "_MAX_COPIED", 3)
    monkeypatch.setattr(device_looks, "_counted_in_lines", None)
    monkeypatch.setattr(device_looks, "_all_finite", None)
    part = [tf.constant([[np.nan, 1.0], [0.0, -1.0]])]
    looks = list(map(device_looks.all_finite, (part, [tf.ones([4])])))
    assert [look.tolist() for look in device_looks.to_host(looks)] == [[0.0], [1.0]]
    (found,) = device_looks.to_host([device_looks.counts(part, TensorDebugMode[mode])])
    assert counts_in(found, part, TensorDebugMode[mode]) == [[4, 0, 0, 1, 1, 1, 1][:columns]]
