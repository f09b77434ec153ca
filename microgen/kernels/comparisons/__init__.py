"""Comparisons and logic."""
