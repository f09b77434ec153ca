"""microgen: from a trained network to verified microcontroller firmware.

The public API; the command line is a thin layer on it.
"""

from microgen.api import RunResult, build, compile_model, export, generate, run, verify
from microgen.compiled import Compiled
from microgen.errors import MicrogenError
from microgen.version import __version__

__all__ = [
    "Compiled",
    "MicrogenError",
    "RunResult",
    "__version__",
    "build",
    "compile_model",
    "export",
    "generate",
    "run",
    "verify",
]
