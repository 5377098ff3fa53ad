"""What rows have in common is looked up once, however many there are."""

from __future__ import annotations

import numpy as np

from tfdbg_tui.logdir.index.columns import BLOCK_ROWS, Column
from tfdbg_tui.query.row_tests import _first_rows


def test_the_first_row_with_a_number_may_be_in_any_block() -> None:
    column = Column()
    column.extend(np.repeat([2, 0, 2], [3, BLOCK_ROWS, 1]))
    column.extend([1])
    assert _first_rows(column.view(), 4).tolist() == [3, BLOCK_ROWS + 4, 0, -1]
