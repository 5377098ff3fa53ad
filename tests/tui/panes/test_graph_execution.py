"""The Graph Execution pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.diagnosis.tiny import Program

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
    async with open_app(tmp_path, (80, 24)) as opened:
        await opened.press("3", "g")
        assert "float32 3D 50,176 elements" in opened.screen()
