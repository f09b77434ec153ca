"""Convolutions of int16."""
