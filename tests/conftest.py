"""Fixtures that many tests share."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.archives import extract
from tests.preloaded import Preloaded
from tfdbg_tui.logdir import Run, RunReader, list_runs
from tfdbg_tui.wire import filesets

with contextlib.suppress(ImportError):  # those of the dump writer go without
    from hypothesis import settings

    # No test depends on the time it takes.  In .ci/run one commit always gets the same examples;
    # elsewhere each run looks at new ones.
    settings.register_profile("untimed", deadline=None, derandomize="CI" in os.environ)
    settings.load_profile("untimed")

_DATA = Path(__file__).parent / "data"
_JOBS = Path(__file__).parent / "diagnosis" / "fleet" / "jobs.tar.xz"

RECORDED = tuple(sorted(path.name.removesuffix(".tar.xz") for path in _DATA.glob("*.tar.xz")))
"""The names of the logdirs of tests/data."""


_LONGEST = (
    *("test_recordings.py", "test_parity.py", "test_tensor_ops.py", "test_incomplete.py"),
    *("test_other_device.py", "test_sessions.py", "test_writer.py", "test_run.py"),
    *("test_coverage.py", "test_divergence.py", "test_fuzz.py", "test_callbacks.py"),
)
"""The files that take longest, some with few tests: one that began last would end alone."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep pytest-xdist from beginning with the files of most tests."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)


def pytest_collection_finish() -> None:
    """Keep Python from looking for garbage in TensorFlow's modules, time and again."""
    gc.freeze()


# Returns the run of a recorded logdir again and again while its events are being written.
GrowingRun = Callable[[str, int], Iterator[Run]]


class RecordedLogdirs(Mapping[str, Path]):
    """The logdirs of tests/data by name, each extracted when it is first asked for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __getitem__(self, name: str) -> Path:
        archive = _DATA / f"{name}.tar.xz"
        if not archive.exists():
            raise KeyError(name)
        if not (self.directory / name).exists():
            extract(archive, self.directory)
        return self.directory / name

    def __iter__(self) -> Iterator[str]:
        return iter(RECORDED)

    def __len__(self) -> int:
        return len(RECORDED)


@pytest.fixture(scope="session")
def logdirs(tmp_path_factory: pytest.TempPathFactory) -> RecordedLogdirs:
    """Recorded logdirs by name (tests/data/README.md): for reading; copy one before changing it."""
    return RecordedLogdirs(tmp_path_factory.mktemp("logdirs"))


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded jobs of tests/diagnosis/fleet, each in a directory of its name: for reading."""
    directory = tmp_path_factory.mktemp("jobs")
    extract(_JOBS, directory)
    return directory


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Preloaded]:
    """Runs programs that begin with TensorFlow imported, each in a process of its own."""
    with Preloaded() as found:
        yield found


@pytest.fixture
def growing_run(logdirs: RecordedLogdirs, tmp_path: Path) -> GrowingRun:
    def grow(name: str, parts: int) -> Iterator[Run]:
        events = {}
        for path in logdirs[name].iterdir():
            held = path.name.endswith((filesets.EXECUTION, filesets.GRAPH_EXECUTION_TRACES))
            events.update({path.name: path.read_bytes()} if held else {})
            (tmp_path / path.name).write_bytes(b"" if held else path.read_bytes())
        (files,) = list_runs(tmp_path)
        reader = RunReader(files)
        for part in range(1, parts + 1):
            for file_name, data in events.items():
                (tmp_path / file_name).write_bytes(data[: len(data) * part // parts])
            yield reader.read_all()

    return grow
