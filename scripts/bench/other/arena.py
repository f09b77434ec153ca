"""The arena that TensorFlow Lite Micro's planner gives a network."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

PYTHON = "TFLITE_MICRO_PYTHON"
_ARENA = 8_000_000
_PROGRAM = f"""
import sys
from tflite_micro.python.tflite_micro import runtime
runtime.Interpreter.from_file(sys.argv[1], arena_size={_ARENA}).print_allocations()
"""
_HEAD = re.compile(r"Arena allocation head (\d+) bytes")


def of(content: bytes) -> int:
    """Bytes of the arena's head: activations with input and output, and scratch buffers. The rest
    of the arena has the interpreter's structures, whose pointers are larger here than on a
    microcontroller. 0 if $TFLITE_MICRO_PYTHON, a Python with the package tflite-micro, is not set,
    or if TensorFlow Lite Micro refuses the network."""
    python = os.environ.get(PYTHON)
    if not python:
        return 0
    with tempfile.TemporaryDirectory(prefix="microgen-bench-") as folder:
        model = Path(folder) / "model.tflite"
        model.write_bytes(content)
        command = [python, "-c", _PROGRAM, str(model)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = _HEAD.search(ran.stdout + ran.stderr)
    return int(found.group(1)) if found else 0
