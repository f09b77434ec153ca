"""microgen: from a trained network to verified microcontroller firmware.

The public API; the command line is a thin layer on it.
"""

__version__ = "0.1.0"
