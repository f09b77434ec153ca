"""The memory of this process."""

from __future__ import annotations

import ctypes

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc's malloc.h
_LARGE = 2**20  # bytes


def return_large_blocks() -> None:
    """From now on, give freed blocks of a megabyte or more back to the operating system at once,
    if the C library can."""
    # glibc otherwise keeps freed blocks of up to 32 MB for later. After some stages of a large
    # model these are as many bytes as its file has.
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    except (AttributeError, OSError, TypeError):  # another C library; TypeError: Windows
        return
