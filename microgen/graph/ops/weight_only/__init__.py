"""Float32 layers whose weights are stored as integers."""
