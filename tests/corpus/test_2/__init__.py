"""Programs by authors who had not read the diagnosis."""
