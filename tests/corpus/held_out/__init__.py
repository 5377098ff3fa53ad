"""Programs to measure with, not to be read while writing rules. One module a theme."""
