"""Packs recorded jobs as data of this repository: they are diagnosed without TensorFlow then.

python -m tests.diagnosis.fleet.jobs /tmp/jobs
python -m tests.diagnosis.fleet.pack /tmp/jobs
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

from tests.data.record import anonymous, neutral_copy

from .jobs import JOBS, OTHER_JOBS

ARCHIVE = Path(__file__).with_name("jobs.tar.xz")


def pack(recorded: Path) -> None:
    """Packs the logdirs that `jobs` has left, without what is about the machine."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, job in (JOBS | OTHER_JOBS).items():
            logdirs = sorted((recorded / name).iterdir()) if job.apart else [recorded / name]
            for logdir in logdirs:
                neutral_copy(logdir, Path(scratch, logdir.relative_to(recorded)))
        with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
            archive.add(scratch, arcname=".", filter=anonymous)


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
