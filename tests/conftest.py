"""Fixtures that many tests share."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

_DATA = Path(__file__).parent / "data"


class RecordedLogdirs(Mapping[str, Path]):
    """The logdirs of tests/data by name, each extracted when it is first asked for."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __getitem__(self, name: str) -> Path:
        archive = _DATA / f"{name}.tar.xz"
        if not archive.exists():
            raise KeyError(name)
        if not (self._directory / name).exists():
            with tarfile.open(archive) as tar:
                tar.extractall(self._directory, filter="data")
        return self._directory / name

    def __iter__(self):
        return (path.name.removesuffix(".tar.xz") for path in sorted(_DATA.glob("*.tar.xz")))

    def __len__(self) -> int:
        return len(list(iter(self)))


@pytest.fixture(scope="session")
def logdirs(tmp_path_factory: pytest.TempPathFactory) -> RecordedLogdirs:
    """Recorded logdirs by name (tests/data/README.md): for reading; copy one before changing it."""
    return RecordedLogdirs(tmp_path_factory.mktemp("logdirs"))
