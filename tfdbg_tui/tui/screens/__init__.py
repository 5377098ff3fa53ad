"""Screens that cover the panes: help, and the choice of a run."""
