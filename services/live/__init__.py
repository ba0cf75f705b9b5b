"""What clients see as it happens: one feed a table on this node, one place in it for each client."""
