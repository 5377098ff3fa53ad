"""A tensor as a table: every element is where its index says, however it is cut and wrapped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfdbg_tui.tui.widgets.tensor_view import TensorView

SHAPES = st.lists(st.integers(1, 4), max_size=4).map(tuple)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@given(SHAPES, st.data())
def test_each_element_of_a_part_has_its_index_in_the_whole(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    tensor = numbered(shape)
    slices = st.sampled_from(["0", "-1", ":", "1:", "::2", "::-1"])
    cut = data.draw(st.lists(slices, max_size=len(shape)))
    if data.draw(st.booleans()):
        cut.insert(data.draw(st.integers(0, len(cut))), "...")
    view = TensorView.of(tensor)
    if cut:
        view = view.part(f"[{', '.join(cut)}]")
        expected = eval(f"tensor[{', '.join(cut)}]", {"tensor": tensor})
        assert np.array_equal(view.elements, expected)
    for position, element in enumerate(view.elements.reshape(-1).tolist()):
        assert tensor[view.index(position)] == element


@given(SHAPES, st.integers(1, 5), st.data())
def test_the_table_holds_the_element_that_is_looked_at(
    shape: tuple[int, ...], wrap: int, data: st.DataObject
) -> None:
    tensor = numbered(shape)
    view = TensorView(tensor, tuple(map(range, shape)), wrap)
    for _ in range(5):
        steps = data.draw(st.tuples(*3 * [st.integers(-3, 3)]))
        view = view.moved(*steps)
        _, row, column = view.place
        assert view.at(row, column) == tensor[view.index(view.position)]


def test_the_next_bad_element_is_found_in_both_directions_and_around_the_end() -> None:
    tensor = numbered((3, 4))
    tensor[0, 0] = tensor[1, 2] = tensor[2, 3] = np.nan
    view = TensorView.of(tensor).at_first_bad()
    assert view.index(view.position) == (0, 0)
    seen = []
    for step in (1, 1, 1, -1, -1):
        view = view.to_bad(step)
        seen.append(view.index(view.position))
    assert seen == [(1, 2), (2, 3), (0, 0), (2, 3), (1, 2)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("5", "out of range"),
        ("-6", "out of range"),
        ("x", "no index"),
        ("0,0,0", "2 axes"),
        ("::0", "by 1 or more"),
        (",", "no index"),
        ("1 2", "no index"),
        ("...,...", "no index"),
    ],
)
def test_what_is_no_part_is_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        TensorView.of(numbered((5, 2))).part(text)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "bool", "complex64"])
def test_the_histogram_counts_what_is_finite(dtype: str) -> None:
    tensor = np.ones((4, 5), dtype)
    if dtype == "float64":
        tensor[0] = [np.nan, np.inf, -np.inf, 1e308, -1e308]
    counts, edges = TensorView.of(tensor).histogram()
    expected = {"float64": 17, "complex64": 0}.get(dtype, 20)
    assert counts.sum() == expected
    assert len(edges) == (len(counts) + 1 if expected else 0)


@pytest.mark.parametrize("value", [0.0, 1.0, -1e30, 5e-324, 1.7976931348623157e308])
def test_the_histogram_of_nearly_equal_numbers_is_one_bar(value: float) -> None:
    for other in (value, np.nextafter(value, -np.inf if value > 0 else np.inf)):
        counts, edges = TensorView.of(np.array([value, other, other])).histogram()
        assert counts.tolist() == [3]
        assert edges.tolist() == sorted((value, other))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e308])
def test_the_histogram_counts_the_smallest_and_the_largest(scale: float) -> None:
    tensor = np.array([-0.7, 0.1, 0.7]) * scale
    counts, edges = TensorView.of(tensor).histogram()
    assert (counts.sum(), counts[0], counts[-1]) == (3, 1, 1)
    assert (edges[0], edges[-1]) == (tensor[0], tensor[2])
