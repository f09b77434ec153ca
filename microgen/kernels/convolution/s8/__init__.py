"""Convolutions of int8."""
