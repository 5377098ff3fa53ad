"""The op types that rules and the table of traits name are TensorFlow's, and none is overlooked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfdbg_tui.diagnosis.op_table import TRAITS
from tfdbg_tui.diagnosis.rules import RULES

_KNOWN = frozenset(Path(__file__).with_name("tensorflow_ops.txt").read_text().split())


def test_every_op_type_that_is_named_is_one_of_tensorflow() -> None:
    assert not set(TRAITS) - _KNOWN
    assert not {op_type for rule in RULES for op_type in rule.op_types} - _KNOWN


@pytest.mark.tensorflow
def test_every_op_of_the_installed_tensorflow_has_been_looked_at() -> None:
    pytest.importorskip("tensorflow")
    from tests.logdir.values.generate_output_types import all_ops

    new = sorted({op.name for op in all_ops()} - _KNOWN)
    assert not new, (
        f"{new}: give those their traits in diagnosis/op_table.py that have some, then run "
        "python tests/logdir/values/generate_output_types.py"
    )
