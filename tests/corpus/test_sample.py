"""A sample of the corpus, recorded by both writers and diagnosed.

All of it: record with `python -m tests.corpus.record`, then run `python -m tests.corpus.score`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .score import outcomes, score

if TYPE_CHECKING:
    from tests.preloaded import Preloaded

_ROOT = Path(__file__).parents[2]
_SAMPLE = [
    "activations.sigmoid_by_hand",
    "attention.causal_mask_of_minus_infinity",
    "attention.fully_masked_row",
    "control_flow.three_functions_deep",
    "data.missing_values_replaced",
    "data.nan_in_the_data_set",
    "gradients.double_where",
    "losses.binary_cross_entropy_of_sigmoid",
]
_PROGRAM = """
import json, sys
from pathlib import Path
from tests.corpus import record, registry
writer, out, *names = sys.argv[1:]
selected = registry.select(registry.programs("train_1"), names)
for program in selected:
    record.record(program, Path(out, program.name), writer)
Path(out, "index.json").write_text(json.dumps(record.index(selected)))
"""


@pytest.mark.tensorflow
@pytest.mark.parametrize("writer", ["tensorflow", "tfdbg_tui"])
def test_a_sample_of_the_corpus_is_diagnosed_rightly(
    writer: str, tmp_path: Path, preloaded: Preloaded
) -> None:
    recorded = preloaded.run(_PROGRAM, writer, tmp_path, *_SAMPLE, directory=_ROOT)
    assert recorded.returncode == 0, recorded.stderr
    totals, failures = score(outcomes(tmp_path))
    assert not failures
    assert totals["buggy"] + totals["healthy"] == len(_SAMPLE)
    assert totals["proved wrongly"] == 0
