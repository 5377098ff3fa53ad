"""The kinds of `events.Omission`: in which way something that ran is not on record."""

STOPPED = "stopped"
"""Nothing is recorded from here on."""

SKIPPED = "skipped"
"""A graph or op is never recorded; everything else is."""

RESULTS_ONLY = "results_only"
"""What a function computes on the way to its results is never recorded; its results are, and it
changes nothing else."""

LOST = "lost"
"""Records were made and could not be written."""

FORKED = "forked"
"""A process forked from the recorded one ran TensorFlow ops."""

EXPORTED = "exported"
"""What the program exported may hold ops that record, and runs in no other process then."""

PAUSED = "paused"
"""Nothing was recorded from here on, for a reason that the user has set, until `RESUMED`."""

RESUMED = "resumed"
"""Something is recorded again; of a pause with the same name."""

ONLY_BAD = "only_bad"
"""Of what comes from here on, what is bad is on record, and what was recorded just before that; the
rest was looked at and is healthy.  Its count may be 0: so far all of that waits in memory."""

ALL_AGAIN = "all_again"
"""Everything that comes from here on is on record, as before `ONLY_BAD`."""

RAISED = "raised"
"""The program was stopped at a bad tensor, as the user had asked for (``on_bad="raise"``)."""

FAILED = "failed"
"""The program ended with an error: what it would have run is not on record."""

BY_SINGLE_THREAD = "the single-threaded executor has no branches, which the ops that record need"
"""The reason of what is skipped on the executor of that name."""

BY_ASYNC = "an asynchronous executor runs it, and to look at it would be to wait for it"
"""The reason of what is skipped there: it may end only by a later op of the same thread."""

BY_THE_USER = "the user has asked for it"
"""The reason of a pause that the program or the app asks for."""

BY_DTENSOR = "DTensor runs it"
"""The reason of what is skipped there: neither Python nor `enable_check_numerics` works in it."""

WITHOUT_OPS = "no op of TensorFlow computes it"
"""The reason of what is skipped there: nothing of TensorFlow can look at it."""

BY_FAILURE = "stopped the ops that record, too"
"""The reason of what a call had computed before an error, after the type of that."""
