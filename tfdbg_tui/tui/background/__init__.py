"""What runs in threads of its own, so that no key waits: loading, diagnosing, searching."""
