"""From bytes to records: opens and follows the files of a logdir, and says what is damaged."""
