"""Programs to write rules against, one module a theme."""
