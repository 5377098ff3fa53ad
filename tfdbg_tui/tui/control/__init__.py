"""What is done when a key is pressed or something has been read; `app` hands it on to these."""
