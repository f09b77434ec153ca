"""Turns a partitioned graph into a program: primitive functions, each compiled once per target, a
straight line of calls, and storage ids."""

from microgen.compiler.lowering.program import lower

__all__ = ["lower"]
