"""What runs the projections: tail, batches, checkpoints, parked streams."""
