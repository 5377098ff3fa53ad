"""The table of the ops whose outputs are not all of one type knows those of TensorFlow."""

from __future__ import annotations

import pytest

from tfdbg_tui.logdir.values.op_outputs import OUTPUT_TYPES

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

from tests.logdir.values.generate_output_types import output_types  # noqa: E402


def test_the_table_has_all_ops_of_the_installed_tensorflow() -> None:
    assert set(output_types()) <= set(OUTPUT_TYPES.strip().splitlines())
