"""Importers of operators that move elements and compute nothing."""
