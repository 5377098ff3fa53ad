"""The lines around the panes: status and recording above, on small screens tabs, keys below."""
