"""Tensors are recorded in groups, which decide on the order of their records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.observe import observed  # noqa: E402
from tfdbg_tui.dump.observe.observed import Observed, groups_of  # noqa: E402
from tfdbg_tui.dump.tensorflow import devices  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def test_a_device_has_one_group_however_much_of_its_name_is_given() -> None:
    """Under a strategy an assignment names its device otherwise than what is read after it."""
    items = []
    with tf.Graph().as_default():
        for device in ("", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"):
            with tf.device(device):
                zeros = tf.zeros([2])
            row: Any = SimpleNamespace(device=devices.Names().full(zeros.device))
            items.append(Observed(zeros, row, "Fill", ()))
        (group,) = groups_of(items)
    assert group == items


@tf.function(input_signature=[tf.TensorSpec([None, 512], tf.float32)])
def activations(x: Any) -> Any:
    for _ in range(6):
        x = tf.nn.relu(x + 1.0)
    return tf.reduce_sum(x)


def test_groups_are_cut_by_the_dimensions_of_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed, "_GROUP_BYTES", 2 << 20)  # 1,024 rows of 512 float32
    cut: list[list[int]] = []
    groups_of = observed.groups_of

    def noted(items: Any, *args: Any) -> Any:
        groups = list(groups_of(items, *args))
        cut.append(list(map(len, groups)))
        return groups

    monkeypatch.setattr(observed, "groups_of", noted)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    results = [float(activations(tf.zeros([rows, 512]))) for rows in (3, 128, 900, 600, 7, 1500)]
    tfdbg_tui.disable_dump_debug_info()
    assert results == [512.0 * 6 * rows for rows in (3, 128, 900, 600, 7, 1500)]
    # A new copy only for 900 rows, which are taken to be 1,024, and for 1,500.
    assert [max(sizes) == 1 for sizes in cut if sizes] == [False, True, True]
    traces = tfdbg_tui.open_run(tmp_path).graph_executions
    sizes = [trace.summary.size for trace in traces if trace.op_name == "Relu_5"]
    assert sizes == [512 * rows for rows in (3, 128, 900, 600, 7, 1500)]
