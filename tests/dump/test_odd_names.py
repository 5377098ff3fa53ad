"""File names that are not UTF-8: TensorFlow 2.16 and 2.19 crash where the stack of one is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import tfdbg_tui

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded

pytestmark = pytest.mark.tensorflow

PROGRAM = r"""
import os, sys
import tensorflow as tf
import tfdbg_tui

tfdbg_tui.enable_dump_debug_info(sys.argv[1], "FULL_HEALTH", -1)
SOURCE = '''
def f(x):
    return tf.math.log(x)
f(tf.zeros([1]))
print(tf.function(f, autograph=False)(tf.zeros([1])).shape)
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    session.run(tf.math.log(tf.zeros([1])))
'''
for name in b"\xff.py", b"new\nline.py", b"<string>", b"/gone/away.py", b"", b"\xc3\xa9.py":
    exec(compile(SOURCE, os.fsdecode(name), "exec"))
f.__code__ = f.__code__.replace(co_name="\udcff")
f(tf.zeros([1]))
"""


def test_no_name_of_a_file_ends_the_program(tmp_path: Path, preloaded: Preloaded) -> None:
    result = preloaded.run(PROGRAM, tmp_path / "logdir", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "(1,)\n" * 6
    run = tfdbg_tui.open_run(tmp_path / "logdir")
    logs = [execution for execution in run.executions if execution.op_type == "Log"]
    files = [{os.path.basename(frame.path) for frame in run.stack(log.stack_id)} for log in logs]
    assert len(files) == 7
    for named, name in zip(files, ("?.py", "new\nline.py", "<string>", "away.py"), strict=False):
        assert name in named


WITHOUT_LINE = r"""
import sys
import tensorflow as tf
import tfdbg_tui

tfdbg_tui.enable_dump_debug_info(sys.argv[1], "FULL_HEALTH", -1)
def f(x):
    assert sys._getframe().f_lineno is None
    return tf.math.log(x)
f.__code__ = f.__code__.replace(co_linetable=b"")
f(tf.zeros([1]))
tf.function(f, autograph=False)(tf.zeros([1]))
"""


def test_what_runs_between_two_lines_is_on_record(tmp_path: Path, preloaded: Preloaded) -> None:
    """So does what a handler of a signal runs; the line is that of the function."""
    result = preloaded.run(WITHOUT_LINE, tmp_path / "logdir", directory=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    run = tfdbg_tui.open_run(tmp_path / "logdir")
    (log,) = (execution for execution in run.executions if execution.op_type == "Log")
    assert [frame.line for frame in run.stack(log.stack_id) if frame.function == "f"] == [7]
