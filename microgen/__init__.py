"""microgen: from a trained network to verified microcontroller firmware.

The public API; the command line is a thin layer on it.
"""

import _signal  # type: ignore[import-not-found]  # in C, so no signal finds it half imported

# Until there are handlers, signals wait, because Python's own answer to Ctrl-C is a traceback.
_mask = getattr(_signal, "pthread_sigmask", None)
if _mask:
    _before = _mask(_signal.SIG_BLOCK, {_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP})
from microgen.building import interrupts as interrupts

if _mask:
    _mask(_signal.SIG_SETMASK, _before)

import importlib
from typing import TYPE_CHECKING, Any

from microgen.version import __version__

if TYPE_CHECKING:
    from microgen.base.errors import MicrogenError
    from microgen.interface.api import (
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
    from microgen.project.firmware.compiled import Compiled, Firmware

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

_MODULES = {
    "Compiled": "project.firmware.compiled",
    "Firmware": "project.firmware.compiled",
    "MicrogenError": "base.errors",
}


_OF_TVM = {"ir": "graph.ir"}  # modules that have another place in TVM: `tvm.ir`


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for, because ``__main__`` must handle signals before that."""
    if name in _OF_TVM:
        return importlib.import_module(f"microgen.{_OF_TVM[name]}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"microgen.{_MODULES.get(name, 'interface.api')}"), name)
