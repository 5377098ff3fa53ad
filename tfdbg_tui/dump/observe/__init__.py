"""Which tensors are observed, in which groups, and by which ops that are added to the program's.

Words that these modules share:

* A *group* is some tensors of one graph, on one device, that are observed together.  Its *plan*
  (`encode.group_plan`) says what the values mean that the graph hands over, and has a `Row` for
  each tensor.
* A graph *looks* at a tensor by an op that tells whether an element is NaN or ∞: TensorFlow's
  summary in its CURT_HEALTH mode.  A *pack* is small tensors of one shape, looked at together.
* An execution of a graph puts *rows* of numbers for each group into a queue (`row_queue`), maybe
  with *words*, which are the elements of the tensors.  The *key* in the first row says what there
  is to tell besides sizes: nothing, *details*, or a *settled* pattern.
* *Details* are what is counted of bad tensors and of the inputs of their ops (`encode.details`).
* A pattern of bad tensors is *settled* (`encode.settled`) once it tells nothing new, so that the
  graph hands over its key alone.
* A *sink* is an op that calls Python in each execution, where there is no queue for that.
* A *mark* in the queue says that all rows before it are of what has run until then.  A `Moment` is
  which calls ran at a time, a `Cause` what a record says of the call that it belongs to.
* What is *measured* has the smallest and largest elements of its healthy tensors recorded.
"""
