"""Packs recorded programs as data of this repository: they are explained without TensorFlow then.

    python -m tests.corpus.record --part train_1 --out /tmp/corpus/train_1
    python -m tests.corpus.pack /tmp/corpus/train_1

writes `recordings/train_1.tar.xz`, without what is about the machine, and `train_1.tsv` beside it,
which says what the diagnosis makes of each program.  With `--expect` only the latter is written
anew, from the archives that are there: do so when a change is meant, and look at the difference.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import tempfile
from pathlib import Path

from tests.archives import extract
from tests.data.record import anonymous, neutral_copy, neutral_path

from .score import Outcome, outcomes

RECORDINGS = Path(__file__).parent / "recordings"


def pack(directory: Path) -> Path:
    """Packs what `record` has written into a directory, which is named like its part."""
    archive_path = RECORDINGS / f"{directory.name}.tar.xz"
    index = json.loads((directory / "index.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        for program in index:
            neutral_copy(directory / program["logdir"], Path(scratch, program["logdir"]))
            program["file"] = neutral_path(program["file"])
        Path(scratch, "index.json").write_text(json.dumps(index, indent=1))
        with tarfile.open(archive_path, "w:xz", preset=9) as archive:
            archive.add(scratch, arcname=".", filter=anonymous)
    return archive_path


def explained(archive_path: Path) -> list[Outcome]:
    """Returns what the diagnosis makes of each program of an archive."""
    with tempfile.TemporaryDirectory() as scratch:
        extract(archive_path, scratch)
        return outcomes(Path(scratch))


def expect(archive_path: Path) -> None:
    """Writes what is expected of an archive, which is what the diagnosis says today."""
    lines = [outcome.line for outcome in explained(archive_path)]
    archive_path.with_suffix("").with_suffix(".tsv").write_text("\n".join(lines) + "\n")
    wrong = [line for line in lines if line.endswith("wrong")]
    print(f"{archive_path.name}: {len(lines)} programs, {len(wrong)} wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--expect", action="store_true")
    args = parser.parse_args()
    archives = sorted(RECORDINGS.glob("*.tar.xz")) if args.expect else []
    for archive_path in [*map(pack, args.directories), *archives]:
        expect(archive_path)


if __name__ == "__main__":
    main()
