"""Small TensorFlow programs with a known numerical bug, and healthy ones that look suspicious.

The corpus measures the diagnosis. Each program is a plain function; a decorator states the truth
about it, and the comment `# BUG` stands on the line of user code that creates the root op.

It has five parts. `dev` and `seen` are there to write rules against (`seen` was held out once, and
read after it had been measured). `held_out` and `final` are for measuring only: who works on the
diagnosis does not read them. `held_out` is measured first, `final` last. `unseen` is by authors
who have not read the diagnosis, labelled before anything was diagnosed.
"""
