"""Whether Python reads what a loop is given, by the source text."""

from __future__ import annotations

import pytest

from tfdbg_tui.diagnosis.unread import reads_none

UNREAD = [
    "for x in data: n += 1",
    "for i, _ in enumerate(data.batch(2)):\n  n = i",
    "n = sum(1 for x in data.take(made(3)))",
    "def f(data):\n  for x in data:\n    n += 1\ndef g(x):\n  return x",
    "import tensorflow as tf\nfor x in tf.data.Dataset.range(3):  # data\n  n += 1",
]
READ = [
    "for x in data:\n  n += x",
    "for x in data:\n  n += 1\nprint(x)",
    "for x in data:\n  x += 1",
    "for x.y in data:\n  n += 1",
    "for x in data:\n  n = eval('x')",
    "for x in data.map(lambda y: y):\n  print(x)",
    "for x in map(float, data):\n  n += 1",
    "for x in [y.numpy() for y in data]:\n  n += 1",
    "for _ in range(2): print(sorted(data.as_numpy_iterator()))",
    "for x in [*data]:\n  n += 1",
    "import numpy as np\nfor x in np.stack(data):\n  n += 1",
    "def f(data):\n  global x\n  for x in data:\n    n += 1\n",
    "for i, x in enumerate(data):\n  print(x)",
    "for i, _ in enumerate(zip(data, data)):\n  _[0]",
    "while next(data) is not None:\n  n += 1",
    "for x in data(",
]


@pytest.mark.parametrize("text", UNREAD)
def test_what_a_loop_does_not_read(text: str) -> None:
    assert reads_none(text.split("\n"), _line(text))


@pytest.mark.parametrize("text", READ)
def test_what_a_loop_or_what_follows_may_read(text: str) -> None:
    assert not reads_none(text.split("\n"), _line(text))


def test_a_part_of_an_element_is_read_by_its_own_name() -> None:
    text = ["for x, y in data:", "  n += x"]
    assert not reads_none(text, 1, (0, 2))
    assert reads_none(text, 1, (1, 2))
    assert not reads_none(["for i, x in enumerate(data):", "  x.y"], 1, (0, 2))


def test_another_cell_of_a_notebook_may_read_what_a_loop_was_given_last() -> None:
    assert not reads_none(["for x in data:", "  n += 1"], 1, is_cell=True)
    assert reads_none(["def f(data):", "  for x in data:", "    n += 1"], 2, is_cell=True)


def _line(text: str) -> int:
    lines = text.split("\n")
    return next(i for i, line in enumerate(lines, 1) if "data" in line and "def" not in line)
