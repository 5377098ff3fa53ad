"""One report for the processes of a job: each is summarised by itself, then summaries are joined.

`summarize` reads the logdir of one process and leaves some kilobytes; `join` makes the report of
them.  Both are pure functions, so that a logdir can be summarised wherever it lies.
"""
