"""What the data of a run means: alerts, dataflow, causes, rules, reports.  Headless.

`find_alerts` lists the bad tensors, `Dataflow` says what a tensor was computed from, and
`diagnose` gives the report that the terminal app and the command line show.
"""
