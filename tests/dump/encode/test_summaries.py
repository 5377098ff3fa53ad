"""Looking at arrays of every floating type."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

from tfdbg_tui.dump.encode import summaries  # noqa: E402

TYPES = [
    *("float16", "float32", "float64", "complex64", "complex128"),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn),
    *(ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.float8_e5m2fnuz),
]


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("size", [1, 100, 5000])
def test_one_bad_element_is_enough(dtype: Any, size: int) -> None:
    array = np.ones(size, dtype)
    assert summaries.all_finite(array)
    array[-1] = np.nan
    assert not summaries.all_finite(array)
    if np.isinf(np.array(np.inf).astype(dtype)):
        array[-1] = -np.inf
        assert not summaries.all_finite(array)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("size", [10, 50])
def test_one_other_element_is_not_nan_all_over(dtype: Any, size: int) -> None:
    array = np.full([size, size], np.nan, dtype)
    assert summaries.all_nan(array)
    for other in (1.0, np.inf):
        array[3, 3] = other
        assert summaries.all_nan(array) == np.isnan(array).all()


def test_an_array_without_elements_has_no_bad_one() -> None:
    for dtype in TYPES:
        assert summaries.all_finite(np.ones([0, 3], dtype))
        assert not summaries.all_nan(np.ones([0, 3], dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_are_counted_together_as_alone(dtype: str) -> None:
    nan, inf = np.nan, np.inf
    pack = np.array([[1.0, 2.0], [nan, -inf], [inf, inf]], dtype)
    single = np.array([[[nan], [0.0], [-inf]]], dtype)
    parts = [*pack, single, pack[:1]]
    alone = [summaries.count_bad(part).values()[:4] for part in parts]
    together = summaries.count_bad_in_parts(
        [pack, single, pack[:1]], np.array([part.size for part in parts])
    )
    assert together.tolist() == [list(counts) for counts in alone]
