"""Programs that are for measuring only: by an author who has not read the diagnosis."""
