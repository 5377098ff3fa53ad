"""One record's values: its tensors, their summaries, and which outputs of the op they are."""
