"""Runs firmware on a core that a debugger's server reaches: a board, or an emulator.

``address`` reads the user's text, ``servers`` connects to the server or starts it, ``protocol``
speaks with it, and ``target`` is the core with the firmware loaded. ``files`` and
``semihosting`` give the firmware its two files. ``session`` runs it.
"""
