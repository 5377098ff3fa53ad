"""What is told of a dump that is too weak to prove a cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.diagnosis.report.diagnosis import diagnose  # noqa: E402
from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (
            "ADAPTIVE",
            "ADAPTIVE counts the zeros and negative numbers of a bad tensor the",
        ),
        ("CONCISE_HEALTH", "This was recorded in CONCISE_HEALTH, which does not count zeros"),
    ],
)
def test_why_no_zeros_are_counted_is_told_as_it_is(tmp_path: Path, mode: str, told: str) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    try:
        x, y = tf.constant([-1.0, 1.0]), tf.constant([0.0])
        for _ in range(12):
            y = tf.math.log(x)
            tf.where(tf.math.is_nan(y), 0.0, y)
        tf.reduce_sum(y)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = diagnose(open_run(tmp_path))
    assert [root.certainty for root in report.roots] == ["likely"]
    assert [note[: len(told)] for note in report.advice] == [told]
