"""A dump to a URL is recorded on this machine first, and stays where it cannot be uploaded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import tfdbg_tui

if TYPE_CHECKING:
    from pathlib import Path

    from tests.preloaded import Preloaded

_PROGRAM = """
import tensorflow as tf
import tfdbg_tui
writer = tfdbg_tui.enable_dump_debug_info("http://user:pass@127.0.0.1:1/logs", "ADAPTIVE", -1)
assert tfdbg_tui.enable_dump_debug_info(
    "http://user:pass@127.0.0.1:1/logs", "ADAPTIVE", -1
) is writer
tf.math.log(tf.constant([0.0]))
"""


@pytest.mark.tensorflow
def test_a_dump_to_a_url_that_takes_none(tmp_path: Path, preloaded: Preloaded) -> None:
    result = preloaded.run(_PROGRAM, TFDBG_SPOOL_DIR=str(tmp_path))
    assert result.returncode == 0, result.stderr
    (told,) = re.findall("tfdbg-tui: .*", result.stderr)
    (spool,) = tmp_path.iterdir()
    assert told == (
        "tfdbg-tui: the dump cannot be uploaded to http://user@127.0.0.1:1/logs "
        f"(web servers are read, not written to); it is in {spool}"
    )
    assert tfdbg_tui.diagnose(tfdbg_tui.open_run(spool)).verdict == "bad"
