"""What is shown: the run as far as it has been read, the focus in it, and who wants to know."""
