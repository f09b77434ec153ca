"""Measures how the tree is built, and compares it with the limits in ``limits.py``.

``python -m scripts.house`` prints every figure with its goal. It needs the standard library only
and reads files as text, so ``--tree DIR`` measures an older checkout, too. Only the search for
kernels' symbols imports the microgen of that tree, in a process of its own.
"""
