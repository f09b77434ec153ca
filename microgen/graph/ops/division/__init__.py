"""Divisions and their remainders."""
