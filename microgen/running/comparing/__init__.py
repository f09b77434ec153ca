"""Compares the results of a firmware with the references, layer by layer."""
