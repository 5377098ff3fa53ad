"""What XLA counts is what numpy counts, of any type and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.encode.extremes import numbers_of_keys  # noqa: E402
from tfdbg_tui.dump.observe import compiled_counts  # noqa: E402
from tfdbg_tui.dump.observe.compiled_counts import CompiledCounts  # noqa: E402
from tfdbg_tui.dump.tensorflow import stablehlo  # noqa: E402
from tfdbg_tui.wire.modes import TensorDebugMode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

UNKNOWN = [tf.TensorSpec([None, None]), tf.TensorSpec(None)]
ODD = np.array([[1, -np.inf, np.nan, 0.0], [-0.0, np.inf, -3e-42, -2], [7, 5, np.nan, -np.nan]])
LARGE = np.linspace(-2, 3, 5000, dtype=np.float32).reshape(50, 100)


def counted(make: Callable[..., Sequence[Any]], *arguments: Any) -> tuple[list[Any], list[Any]]:
    """Return what is counted of tensors in FULL_HEALTH, and what numpy finds in them."""
    kept = []

    @tf.function(jit_compile=True, autograph=False, input_signature=UNKNOWN[: len(arguments)])
    def compiled(*arguments: Any) -> Any:
        tensors = make(*arguments)
        counts = CompiledCounts(tensors, TensorDebugMode.FULL_HEALTH, measured=True)
        kept.append(counts)
        return counts.values, counts.number_of_bad, tensors

    values, bad, tensors = compiled(*arguments)
    rows = kept[-1].rows(values.numpy())
    arrays = [tensor.numpy() for tensor in tensors]
    assert bad == sum(np.count_nonzero(~np.isfinite(array)) for array in arrays)
    is_double = np.array([array.dtype == np.float64 for array in arrays])
    ends = numbers_of_keys(rows[:, -2:], is_double)
    return [[*row[:-2], *end] for row, end in zip(rows.tolist(), ends, strict=True)], [
        expected(array) for array in arrays
    ]


def expected(array: Any) -> list[float]:
    finite = array[np.isfinite(array)].astype(np.float64)
    bad = [np.sum(array == -np.inf), np.sum(array == np.inf), np.sum(np.isnan(array))]
    signs = [np.sum(finite < 0), np.sum(finite == 0)]
    return [array.ndim, array.size, *bad, *signs, finite.min(), finite.max()]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types(dtype: str) -> None:
    found, wanted = counted(
        lambda: [tf.constant(x, dtype) for x in (ODD, LARGE, ODD * 2, -LARGE, LARGE.T)]
    )
    assert found == wanted


def test_types_beside_each_other() -> None:
    found, wanted = counted(
        lambda: [tf.constant(x, t) for x in (ODD, LARGE) for t in ("float64", "float32")]
    )
    assert found == wanted


def test_what_is_computed_one_from_the_other() -> None:
    variable = tf.Variable(LARGE)
    found, wanted = counted(lambda: powers(variable))
    assert found == wanted


def powers(variable: Any) -> list[Any]:
    made = [variable * 2.0]
    for _ in range(10):
        made.append(made[-1] * variable * 1e5)
    return made


def test_no_more_are_joined_at_once_than_llvm_takes_quickly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_counts, "_JOINED", 2)
    concatenate = stablehlo.Module.concatenate
    joined: list[int] = []

    def noting(module: stablehlo.Module, vectors: Sequence[stablehlo.Value]) -> stablehlo.Value:
        joined.extend([len(vectors)] if vectors[0].element == "i32" else [])
        return concatenate(module, vectors)

    monkeypatch.setattr(stablehlo.Module, "concatenate", noting)
    found, wanted = counted(lambda: [tf.constant(LARGE[:rows]) for rows in range(43, 50)])
    assert found == wanted
    assert max(joined) == 2


def test_shapes_that_are_known_when_xla_compiles() -> None:
    found, wanted = counted(lambda x, y: [x, tf.transpose(x), y, x[:1]], ODD, LARGE)
    assert found == wanted


def test_shapes_that_are_known_when_it_runs() -> None:
    """XLA makes room for all elements; what is behind those that are there does not count."""

    def some(x: Any, y: Any) -> list[Any]:
        rows = tf.boolean_mask(x, x[:, 0] < 5)
        columns = tf.boolean_mask(x, tf.abs(x[1]) < 1, axis=1)
        both = tf.boolean_mask(rows, tf.abs(x[1]) < 1, axis=1)
        sure = tf.ensure_shape(tf.boolean_mask(x, x[:, 0] < 8), [3, 4])
        flat = tf.reshape(y, [-1])
        return [rows, columns, both, sure, tf.boolean_mask(flat, flat > 0)]

    found, wanted = counted(some, ODD, LARGE)
    assert found == wanted


def test_shapes_of_unknown_rank_have_a_known_number_of_values() -> None:
    kept = []

    @tf.function(jit_compile=True, autograph=False, input_signature=UNKNOWN[1:])
    def compiled(x: Any) -> Any:
        counts = CompiledCounts([x], TensorDebugMode.SHAPE, measured=False)
        kept.append(counts)
        return counts.values

    values = compiled(LARGE).numpy()
    assert kept[-1].values.shape == [8]
    assert kept[-1].rows(values).tolist() == [[2, 5000, 50, 100, 0, 0, 0, 0]]


def test_a_program_runs_whose_xla_does_not_take_what_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stablehlo, "_VERSION", 1)
    compiled_counts.try_out.cache_clear()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        assert tf.function(tf.math.negative, jit_compile=True)(tf.constant(2.0)) == -2.0
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).verdict == "incomplete"
