"""Programs that were held out until the first measurement. Rules may be written on these now."""
