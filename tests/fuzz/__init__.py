"""Looks for logdirs and keys that end a command or the app in a traceback.

    python -m tests.fuzz --minutes 10
    python -m tests.fuzz --minutes 1 --only app --seed 7

Recorded logdirs are damaged at random (`damage`), and `info`, `diagnose` and the library are run on
them (`commands`), or the app with random keys, mouse and sizes (`app`).  A finding names its seed:
``--seed N --cases 1`` repeats it.  A short run is among the tests (`test_fuzz`).

`python -m tests.fuzz.programs` runs random programs instead, and checks by the values on record
that what is told to be the sources and uses of each tensor is true; `python -m tests.fuzz.bugs`
runs random programs with bugs at known lines, and checks the roots.
"""
