"""A job whose processes have recorded behind URLs is one job, as on a disk."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import pytest

from tests.storage import places
from tfdbg_tui.cli.fleet import diagnose_logdirs
from tfdbg_tui.cli.options import expanded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS: dict[str, Callable[[pytest.MonkeyPatch], AbstractContextManager[places.Store]]] = {
    "memory": lambda _: nullcontext(places.memory()),
    "bucket": places.bucket,
}


@pytest.mark.parametrize("kind", KINDS)
def test_prefixes_of_one_server_are_one_job(
    kind: str, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    job = recorded / "loop_2_apart"
    workers = sorted(path.name for path in job.iterdir())
    with KINDS[kind](monkeypatch) as place:
        for path in job.glob("*/*"):
            place.put(str(path.relative_to(job)), path.read_bytes())
        found = [
            diagnose_logdirs([f"{place.url}/{worker}" for worker in workers], jobs=1),
            diagnose_logdirs([place.url], jobs=1),
            diagnose_logdirs(expanded([f"{place.url}/work*[0-2]"]), jobs=1),
        ]
        assert expanded([f"{place.url}/*/*"]) == []
    here = diagnose_logdirs([str(job / worker) for worker in workers], jobs=1)
    wanted = json.dumps(here.to_json()).replace(str(job), place.url)
    assert [json.dumps(report.to_json()) for report in found] == [wanted] * 3
