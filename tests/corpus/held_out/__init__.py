"""Programs that are not read while rules are written. Measure on these."""
