"""Writes C from a program and its memory plan."""
