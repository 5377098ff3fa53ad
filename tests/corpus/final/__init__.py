"""Programs that are not read while rules are written, for one last measurement."""
