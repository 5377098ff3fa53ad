"""The six panes: each a view of the session's snapshot and focus, and of nothing else."""
