"""A sample of the corpus, recorded by both writers and diagnosed.

All of it: record with `python -m tests.corpus.record`, then run `python -m tests.corpus.score`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .score import outcomes, score

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


@pytest.mark.tensorflow
@pytest.mark.parametrize("writer", ["tensorflow", "tfdbg_tui"])
def test_a_sample_of_the_corpus_is_diagnosed_rightly(writer: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.corpus.record", "--part", "train_1", "--writer", writer]
    subprocess.run(
        [*command, "--out", str(tmp_path), *_SAMPLE], cwd=_ROOT, check=True, capture_output=True
    )
    totals, failures = score(outcomes(tmp_path))
    assert not failures
    assert totals["buggy"] + totals["healthy"] == len(_SAMPLE)
    assert totals["proved wrongly"] == 0
