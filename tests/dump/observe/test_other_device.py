"""Graphs on a device whose memory is taken for another one's: the second of two logical CPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

if TYPE_CHECKING:
    from tests.preloaded import Preloaded

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from unittest import mock

import tensorflow as tf

sys.path.insert(0, sys.argv[2])

import tfdbg_tui
from tests.dump import device_programs
from tfdbg_tui.dump.tensorflow import devices, op_maker

HOST = "/job:localhost/replica:0/task:0/device:CPU:0"
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
root = Path(sys.argv[1])


def program():
    with tf.device("/device:CPU:1"):
        calls = list(device_programs.dtype_calls())
        return [call(d).numpy().tobytes() for call in calls for d in (2.0, 2.0, 0.0, 0.0, 2.0)]


def recorded(mode, name):
    tfdbg_tui.enable_dump_debug_info(str(root / mode / name), mode, -1)
    results = program()
    tfdbg_tui.disable_dump_debug_info()
    traces = tfdbg_tui.open_run(root / mode / name).graph_executions
    return results, [(t.op_name, t.output_slot, t.iteration, str(t.summary)) for t in traces]


plain = program()
for mode in ("ADAPTIVE", "FULL_HEALTH"):
    here = recorded(mode, "here")
    with (
        mock.patch.object(devices, "has_accelerator", lambda: True),
        mock.patch.object(op_maker, "_host", lambda device: HOST),
    ):
        there = recorded(mode, "there")
    assert here[0] == there[0] == plain, mode
    assert sorted(here[1], key=str) == sorted(there[1], key=str), mode
    print(len(there[1]))
"""


def test_the_same_is_on_record(tmp_path: Path, preloaded: Preloaded) -> None:
    result = preloaded.run(PROGRAM, tmp_path, ROOT)
    assert result.returncode == 0, result.stderr
    assert all(int(count) > 1000 for count in result.stdout.split())
