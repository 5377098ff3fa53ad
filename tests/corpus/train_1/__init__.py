"""Programs that rules were written against from the start, one module a theme."""
