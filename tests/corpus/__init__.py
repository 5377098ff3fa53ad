"""Small TensorFlow programs with a known numerical bug, and healthy ones that look suspicious.

The corpus measures the diagnosis. Each program is a plain function; a decorator states the truth
about it, and the comment `# BUG` stands on the line of user code that creates the root op.

README.md tells its five parts, and who has read which when.
"""
