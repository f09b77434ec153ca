"""Gives every node to a code generator."""

from microgen.partition.assign import Partition, assign

__all__ = ["Partition", "assign"]
