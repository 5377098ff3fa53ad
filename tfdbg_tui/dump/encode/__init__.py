"""From arrays to bytes: the payloads of executions and of graph execution traces."""
