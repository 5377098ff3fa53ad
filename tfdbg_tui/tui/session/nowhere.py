"""What navigation raises when there is nothing to go to."""

from __future__ import annotations


class NowhereError(Exception):
    """There is nothing to go to; the message says so."""
