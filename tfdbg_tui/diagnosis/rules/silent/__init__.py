"""Defects that show before NaN or without it: what they mean, which places of a run have them."""
