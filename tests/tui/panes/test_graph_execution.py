"""The Graph Execution pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.diagnosis.tiny import Program
from tests.logdir.synthetic import write_logdir
from tests.logdir.test_processes import process

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Open


async def test_the_size_of_a_tensor_with_a_long_name_is_not_cut(
    open_app: Open, tmp_path: Path
) -> None:
    made = Program(tmp_path)
    made.graph("f", "f")
    made.op("f", "Relu", "decoder_1/conv2d_transpose_1_2/Relu")
    made.fit_batch(0, 1, 1)
    for step in range(40):
        value = np.full((64, 28, 28), 2, np.float32)
        made.trace("f", "decoder_1/conv2d_transpose_1_2/Relu", value, step=step)
    made.open()
    for width in (80, 60):
        async with open_app(tmp_path, (width, 24)) as opened:
            await opened.press("3", "g")
            assert "float32 3D 50,176 elements" in opened.screen(), width


async def test_which_of_several_processes_has_recorded_something(
    open_app: Open, tmp_path: Path
) -> None:
    for host, start in (("a", 1.0), ("b", 2.0)):
        write_logdir(tmp_path, **process(host, (start, start + 2)))
    async with open_app(tmp_path, (120, 40)) as opened:
        for key, number in (("g", 0), ("G", 1)):
            await opened.press("3", key)
            assert f"process {number}, one of 2 ·" in opened.screen()
            await opened.press("2", key)
            assert f"process {number}, one of 2 ·" in opened.screen()
