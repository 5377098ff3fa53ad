"""Which tensors are observed, in which groups, and by which ops that are added to the program's."""
