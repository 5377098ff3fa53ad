"""From bytes to files: queues, the writer thread, the files of a file set, and what is omitted."""
