"""The writer's files, and what a program does to the descriptors of its process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

from tfdbg_tui.logdir import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded

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
FAKES_SYSTEM = """
from unittest import mock
names = "os.stat", "os.fstat", "os.open", "os.write", "builtins.open"
patches = [mock.patch(name, side_effect=OSError) for name in names]
for patch in patches:
    patch.start()
logarithm(tf.zeros([3]))
dump.flush()
for patch in patches:
    patch.stop()
"""


def test_files_that_got_our_descriptors_are_left_alone(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    process = preloaded.run(PROGRAM + CLOSES_ALL, tmp_path)
    assert process.returncode == 0, process.stderr[-3000:]
    (omission,) = open_run(tmp_path).omissions
    assert omission.kind == "stopped"
    assert "closed" in omission.reason


def test_the_dump_goes_on_where_no_descriptor_is_left(tmp_path: Path, preloaded: Preloaded) -> None:
    process = preloaded.run(PROGRAM + USES_ALL, tmp_path)
    assert process.returncode == 0, process.stderr[-3000:]
    found = open_run(tmp_path)
    assert not found.omissions
    assert found.num_alerts


def test_the_dump_goes_on_where_a_test_of_the_program_fakes_the_system(
    tmp_path: Path, preloaded: Preloaded
) -> None:
    process = preloaded.run(PROGRAM + FAKES_SYSTEM, tmp_path)
    assert process.returncode == 0, process.stderr[-3000:]
    found = open_run(tmp_path)
    assert not found.omissions
    assert found.num_alerts
