"""Runs firmware, times it, and compares what it computes with what the model says."""
