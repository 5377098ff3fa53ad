"""Small TensorFlow programs with a known numerical bug, and healthy ones that look suspicious.

The corpus measures the diagnosis. Each program is a plain function; a decorator states the truth
about it, and the comment `# BUG` stands on the line of user code that creates the root op.

`dev` is there to write rules against. `held_out` holds other programs of the same themes: it is
for measuring only, so do not read it while working on the diagnosis.
"""
