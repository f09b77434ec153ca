"""Gives every node to a code generator."""

from microgen.compiler.partition.assign import Partition, assign

__all__ = ["Partition", "assign"]
