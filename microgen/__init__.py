"""microgen: from a trained network to verified microcontroller firmware.

The public API; the command line is a thin layer on it.
"""

from microgen.api import (
    RunResult,
    build,
    compile_model,
    compile_models,
    export,
    generate,
    generate_models,
    run,
    verify,
)
from microgen.compiled import Compiled, Firmware
from microgen.errors import MicrogenError
from microgen.version import __version__

__all__ = [
    "Compiled",
    "Firmware",
    "MicrogenError",
    "RunResult",
    "__version__",
    "build",
    "compile_model",
    "compile_models",
    "export",
    "generate",
    "generate_models",
    "run",
    "verify",
]
