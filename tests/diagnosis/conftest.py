"""Lets the tests of this directory import `tiny` and `corpus_score`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
