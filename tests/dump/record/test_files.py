"""The writer's files, and what a program does to the descriptors of its process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, resource, sys
import tensorflow as tf
import tfdbg_tui
dump = tfdbg_tui.enable_dump_debug_info(sys.argv[1], "ADAPTIVE", -1)
logarithm = tf.function(tf.math.log)
logarithm(tf.ones([2]))
dump.flush()
"""
CLOSES_ALL = """
os.closerange(3, 1000)
paths = [f"{sys.argv[1]}/mine.{number}" for number in range(50)]
files = [open(path, "w") for path in paths]
for size in range(3, 6):
    logarithm(tf.ones([size]))
    dump.flush()
tfdbg_tui.disable_dump_debug_info()
for file in files:
    file.write("mine")
    file.close()
assert {open(path).read() for path in paths} == {"mine"}
"""
USES_ALL = """
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
files = []
try:
    while True:
        files.append(open(os.devnull))
except OSError:
    pass
logarithm(tf.zeros([3]))
dump.flush()
"""


def run(program: str, directory: Path) -> None:
    command = [sys.executable, "-c", PROGRAM + program, str(directory)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]


def test_files_that_got_our_descriptors_are_left_alone(tmp_path: Path) -> None:
    run(CLOSES_ALL, tmp_path)
    (omission,) = open_run(tmp_path).omissions
    assert omission.kind == "stopped"
    assert "closed" in omission.reason


def test_the_dump_goes_on_where_no_descriptor_is_left(tmp_path: Path) -> None:
    run(USES_ALL, tmp_path)
    found = open_run(tmp_path)
    assert not found.omissions
    assert found.num_alerts
