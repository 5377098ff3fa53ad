"""Files on the disks of this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.storage import storage_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("error", "there"), [(PermissionError, True), (FileNotFoundError, False), (OSError, False)]
)
def test_what_may_not_be_looked_at_is_not_said_to_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError], there: bool
) -> None:
    path = tmp_path / "x"
    path.write_text("12")
    storage = storage_of(str(tmp_path))
    file = storage.open(str(path))

    def refused(*_: object, **__: object) -> os.stat_result:
        raise error

    with monkeypatch.context() as patch:
        for name in ("stat", "lstat"):
            patch.setattr(os, name, refused)
        exists, look = storage.exists(str(path)), file.look()
    assert (exists, look.size, look.fate) == (there, 2, "" if there else "deleted")
    file.close()
