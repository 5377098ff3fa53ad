"""Thousands of records at once: numpy looks at a whole chunk and recognises what is in it."""
