"""Several logdirs: each run once, and what they are called together."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.logdir import list_runs
from tfdbg_tui.logdir.several import common_path, list_runs_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RecordedLogdirs


@pytest.mark.parametrize(
    ("logdirs", "name"),
    [
        (["relative"], "relative"),
        (["/data/job/worker0", "/data/job/worker1"], "/data/job"),
        (["/a", "/b", "/c"], "/a and 2 more"),
        (["s3://bucket/job/0", "s3://bucket/job/1"], "s3://bucket/job"),
        (["s3://one/0", "s3://other/0"], "s3://one/0 and 1 more"),
    ],
)
def test_what_several_logdirs_are_called(logdirs: list[str], name: str) -> None:
    assert common_path(logdirs) == name


def test_each_run_is_listed_once_and_what_cannot_be_listed_is_told(
    logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    for name in ("session", "shape"):
        shutil.copytree(logdirs[name], tmp_path / name)
    paths = [str(tmp_path), str(tmp_path / "shape"), str(tmp_path / "missing")]
    runs, unlisted = list_runs_of(paths)
    assert sorted(run.directory for run in runs) == [
        str(tmp_path / "session"),
        str(tmp_path / "shape"),
    ]
    assert [path for path, _ in unlisted] == [str(tmp_path / "missing")]


def test_links_to_directories_elsewhere_count_once(
    logdirs: RecordedLogdirs, tmp_path: Path
) -> None:
    shutil.copytree(logdirs["shape"], tmp_path / "runs" / "shape")
    shutil.copytree(logdirs["session"], tmp_path / "elsewhere" / "session")
    targets = {"latest": "shape", "a": "../elsewhere", "b": "../elsewhere", "up": "..", "c": "c"}
    for name, target in targets.items():
        (tmp_path / "runs" / name).symlink_to(target)
    assert sorted(run.directory for run in list_runs(tmp_path / "runs")) == [
        str(tmp_path / "runs" / "a" / "session"),
        str(tmp_path / "runs" / "shape"),
    ]
