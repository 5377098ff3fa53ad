"""What keys do: the table of all actions, the keys they have, and what only the app can do."""
