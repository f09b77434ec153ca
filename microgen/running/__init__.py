"""Runs firmware, times it, and compares its results with the model's references."""
