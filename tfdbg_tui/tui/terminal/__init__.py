"""What depends on the terminal: characters, colours, its speed, its signals, clipboard, editor."""
