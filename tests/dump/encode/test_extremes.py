"""The smallest and largest elements of arrays of every floating type."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import numpy as np  # noqa: E402

from tfdbg_tui.dump.encode import extremes  # noqa: E402


@pytest.mark.parametrize(
    "name", ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
)
@pytest.mark.parametrize(
    "numbers",
    [
        [[1.0, 2.0, -3.0], [0.5, 4.0, 8.0], [-1.0, -2.0, -0.5], [0.0, -0.0, 0.0]],
        [[np.nan, 2.0, -3.0], [np.inf, 1.0, np.inf], [-np.inf, -1.0, -2.0]],
        [[np.nan, np.nan], [-np.nan, 1.0], [-np.nan, -1.0]],
    ],
)
def test_extremes_of_each_type_are_those_of_the_finite_elements(
    name: str, numbers: list[list[float]]
) -> None:
    if name == "float8_e4m3fn":  # It has no infinity.
        numbers = [[x if np.isfinite(x) else np.nan for x in row] for row in numbers]
    array = np.array(numbers, tf.as_dtype(name).as_numpy_dtype)
    expected = []
    for row in numbers:
        finite = [x for x in row if np.isfinite(x)]
        expected.append([min(finite), max(finite)] if finite else [np.nan, np.nan])
    np.testing.assert_array_equal(extremes.extremes_of_each(array), expected)
    if array.dtype.kind == "f":
        sizes = np.full(len(array) + 1, array[0].size)
        found = extremes.extremes_in_parts([array, array[0]], sizes)
        np.testing.assert_array_equal(found, [*expected, expected[0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_extremes_of_what_is_looked_at_in_parts(bad: float | None) -> None:
    array = np.zeros((5, extremes._CACHED // 2 + 1), np.float32)
    array[0, 7], array[4, -1] = 3.0, -2.0
    if bad is not None:
        array[2, 5] = bad
    assert extremes.extremes_of(array) == (-2.0, 3.0)
