"""What is kept while eager tensors are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

from tfdbg_tui.dump import options  # noqa: E402
from tfdbg_tui.dump.encode import eager_tensors  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_not_kept_for_ever_which_assigned_tensors_are_healthy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eager_tensors, "_MAX_NOTED", 10)
    tensors = eager_tensors.EagerTensors(options.validated(str(tmp_path), "ADAPTIVE", -1))
    handle = tf.Variable(1.0).handle
    for _ in range(25):
        inputs = handle, tf.ones([2])
        tensors.values("AssignVariableOp", inputs, (), b"", measured=False)
    assert len(tensors._are_bad) <= 10
