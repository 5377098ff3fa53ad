"""What records refer to by id: source files, stack frames, stacks, graphs, ops and devices."""
