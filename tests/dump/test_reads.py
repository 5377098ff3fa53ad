"""Which eager tensors with NaN or ∞ Python has read is on record."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.record import bad_reads  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda tensor: tensor.numpy(),
    "float": float,
    "text": str,
    "repr": repr,
    "format": lambda tensor: format(tensor, ".2f"),
    "pickle": pickle.dumps,
}


def read_after(program: Callable[[], Any], directory: Path) -> bool:
    """Returns whether it is on record that the tensor which a program returns was read."""
    tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1)
    try:
        number = program()._id
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return open_run(directory).is_read_by_python(0, number)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_python_reads_is_known(read: Any, dtype: str, tmp_path: Path) -> None:
    def program() -> Any:
        bad = tf.math.log(tf.zeros([], dtype))
        read(bad)
        return bad

    assert read_after(program, tmp_path)


OTHERS: dict[str, Callable[[], Any]] = {
    "finite": lambda: tf.exp(1.0),
    "more than is shown": lambda: tf.math.log(tf.zeros([1001])),
    "none": lambda: tf.zeros([0]),
    "integer": lambda: tf.constant(1),
    "text": lambda: tf.constant("nan"),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_of_anything_else_there_is_no_record(make: Any, tmp_path: Path) -> None:
    def program() -> Any:
        tensor = make()
        tensor.numpy()
        return tensor

    assert not read_after(program, tmp_path)


def test_what_is_only_compared_is_not_read(tmp_path: Path) -> None:
    def program() -> Any:
        bad = tf.exp(100.0)
        assert bad > 1.0
        return bad

    assert not read_after(program, tmp_path)


BAD: dict[str, Callable[[], Any]] = {
    "one element": lambda: tf.math.log([[0.0]]),
    "some elements": lambda: tf.math.log([1.0, 0.0]),
    "bfloat16": lambda: tf.exp(tf.constant(100.0, "bfloat16")),
    "complex": lambda: tf.complex(0.0, tf.math.log(0.0)),
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_what_holds_a_bad_number_is_bad(make: Any, tmp_path: Path) -> None:
    def program() -> Any:
        tensor = make()
        tensor.numpy()
        return tensor

    assert read_after(program, tmp_path)


def test_there_is_an_end_of_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bad_reads, "_MOST", 2)
    made: list[Any] = []

    def program() -> Any:
        made.extend(tf.math.log(0.0) for _ in range(3))
        for tensor in (made[0], *made):
            tensor.numpy()
        return made[0]

    assert read_after(program, tmp_path)
    run = open_run(tmp_path)
    assert [run.is_read_by_python(0, tensor._id) for tensor in made] == [True, True, False]
