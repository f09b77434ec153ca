"""microgen: from a trained network to verified microcontroller firmware."""

__version__ = "0.1.0"
