"""What is kept in memory of each event: columns, alerts, and the order of several files."""
