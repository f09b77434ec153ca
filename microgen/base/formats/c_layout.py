"""Multiples of an alignment, and the size of a C structure for pointers of a given size."""

from __future__ import annotations


def aligned(nbytes: int, alignment: int) -> int:
    """The smallest multiple of ``alignment`` that is at least ``nbytes``."""
    return -(-nbytes // alignment) * alignment


def struct_bytes(fields: str, pointer_bytes: int) -> int:
    """``sizeof`` a structure of ``fields``, one letter each: p pointer or size_t, q 8 bytes, i 4,
    h 2, b 1. All supported ABIs align a number to its size."""
    widths = {"p": pointer_bytes, "q": 8, "i": 4, "h": 2, "b": 1}
    offset = 0
    for letter in fields:
        width = widths[letter]
        offset = aligned(offset, width) + width
    # C pads a structure to its widest field, so that arrays of it are aligned.
    return aligned(offset, max(widths[letter] for letter in fields))
