"""Trouble before, or without, NaN: what it means, and which places of a run have it."""
