"""Widgets that know nothing of runs: lists of any length, chips, bars."""
