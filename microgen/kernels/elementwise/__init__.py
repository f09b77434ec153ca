"""Arithmetic of two tensors, element by element."""
