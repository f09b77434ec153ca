"""Measures kernels, for the tables in ``microgen/kernels/measured``: see ``scripts/measure.py``."""
