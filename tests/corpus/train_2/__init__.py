"""Programs that were held out from the first version of the rules."""
