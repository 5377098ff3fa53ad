"""Tensors are recorded in groups, which decide on the order of their records."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

from tfdbg_tui.dump.observe.observed import Observed, groups_of  # noqa: E402


def test_a_device_has_one_group_however_much_of_its_name_is_given() -> None:
    """Under a strategy an assignment names its device otherwise than what is read after it."""
    row: Any = None
    observed = []
    with tf.Graph().as_default():
        for device in ("", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"):
            with tf.device(device):
                observed.append(Observed(tf.zeros([2]), row, "Fill", ()))
        (group,) = groups_of(observed)
    assert group == observed
