"""What the writer creates is for its user only, whatever the umask of the program is."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.logdir import LogdirError
from tfdbg_tui.program import Program, log_path, new_logdir

if TYPE_CHECKING:
    from tests.preloaded import Preloaded

PROGRAM = """\
import os, sys
import tensorflow as tf
import tfdbg_tui

os.umask(0)
for size in (-1, 2):
    for mode in ("ADAPTIVE", "FULL_TENSOR"):
        root = os.path.join(sys.argv[1], f"{mode}{size}", "logdir")
        handle = tfdbg_tui.enable_dump_debug_info(root, mode, size)
        for _ in range(3):
            for _ in range(8):
                tf.math.log(tf.zeros([1]))
            handle.flush()
        tfdbg_tui.disable_dump_debug_info()
assert os.umask(0) == 0
"""


def modes(directory: Path) -> dict[str, int]:
    return {
        str(path.relative_to(directory)): stat.S_IMODE(path.stat().st_mode)
        for path in directory.rglob("*")
    }


@pytest.mark.tensorflow
def test_files_of_a_dump_are_for_its_user_only(tmp_path: Path, preloaded: Preloaded) -> None:
    (tmp_path / "ADAPTIVE-1").mkdir(mode=0o755)
    result = preloaded.run(PROGRAM, tmp_path)
    assert result.returncode == 0, result.stderr
    found = modes(tmp_path)
    assert found.pop("ADAPTIVE-1") == 0o755, "a directory of the user keeps its mode"
    for name, mode in found.items():
        assert mode == (0o600 if "tfdbg_events" in name else 0o700), name
    assert len(found) == 3 + 4 + 4 * 6


@pytest.mark.tensorflow
def test_a_rewritten_ring_is_for_its_user_only(tmp_path: Path) -> None:
    from tfdbg_tui.dump.record.files import FramedFile, RingFile

    path = tmp_path / "ring"
    (tmp_path / "ring.tmp").write_text("of a rewrite that failed")
    before = os.umask(0)
    try:
        ring = RingFile(str(path), FramedFile, capacity=2)
        for number in range(9):
            ring.extend([(b"%d" % number, 1)])
        ring.close()
    finally:
        os.umask(before)
    assert path.read_bytes().endswith(b"78")
    assert modes(tmp_path) == {"ring": 0o600}


def test_the_log_of_a_program_is_for_its_user_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        program = Program(str(tmp_path), ["-c", "pass"])
        program.start()
        program._process.wait()
    finally:
        os.umask(before)
    assert modes(tmp_path) == {os.path.basename(program.log_path): 0o600}


def test_a_log_is_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFDBG_RUN_ID", "job/1")
    (tmp_path / "program.job_1.log").symlink_to(tmp_path / "elsewhere")
    programs = [Program(str(tmp_path), ["-c", f"print({number})"]) for number in range(2)]
    for program in programs:
        program.start()
    for number, program in enumerate(programs):
        program._process.wait()
        assert Path(program.log_path).read_text() == f"{number}\n"
        os.utime(program.log_path, (number, number))
    assert log_path(str(tmp_path), "job/1") == programs[-1].log_path
    assert not (tmp_path / "elsewhere").exists()


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"tfdbg-tui-{os.getuid()}"


def test_the_directory_for_all_dumps_is_for_its_user_only(parent: Path) -> None:
    logdirs = [Path(new_logdir("train.py")) for _ in range(2)]
    for directory in (parent, *logdirs):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [logdir.parent for logdir in logdirs] == [parent, parent]


def test_a_directory_that_is_open_to_others_is_refused(parent: Path) -> None:
    parent.mkdir()
    parent.chmod(0o777)
    with pytest.raises(LogdirError, match=f"chmod 700 {parent}"):
        new_logdir("train.py")
    assert not list(parent.iterdir())


def test_a_link_is_refused(parent: Path) -> None:
    (parent.parent / "victim").mkdir(mode=0o700)
    parent.symlink_to(parent.parent / "victim")
    with pytest.raises(LogdirError, match="not a directory"):
        new_logdir("train.py")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory to another user")
def test_a_directory_of_another_user_is_refused(parent: Path) -> None:
    parent.mkdir(mode=0o700)
    os.chown(parent, 65534, 65534)
    with pytest.raises(LogdirError, match="belongs to another user"):
        new_logdir("train.py")
