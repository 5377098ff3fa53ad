"""Recorded logdirs are kept as archives."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def extract(archive: Path, directory: Path | str) -> None:
    """Write the files of an archive into a directory."""
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):  # which Python 3.11.0 to 3.11.3 lack
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(directory)
