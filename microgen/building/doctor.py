"""The programs and packages that microgen uses: which are installed, how to install the others."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass

from microgen.building import tools

# Name; its users; whether generate, build, verify and run of a .tflite file need it.
_PACKAGES = (
    ("numpy", "every command", True),
    ("cattrs", "every command", True),
    ("jinja2", "generate", True),
    ("pyelftools", "verify", True),
    ("pyyaml", "boards", True),
    ("rich", "tables and progress on a terminal", True),
    ("tflite", "reading .tflite models", True),
    ("onnx", "reading .onnx models", False),
    ("ai-edge-litert", "comparing with LiteRT", False),
    ("tflite-micro", "comparing with TFLite Micro (--numerics tflm)", False),
    ("onnxruntime", "comparing with ONNX Runtime", False),
    ("distributed", "zoo", False),
    ("scikit-learn", "examples/digits", False),
    ("west", "west build, verify and run in a project", False),
)


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """One package or program.

    ``found`` is its version, or "present" for a part of a program. It is empty if the program is
    missing or does not work; then ``install`` is the command that installs it, and otherwise it is
    empty. ``required``: generate, build, verify or run need it for Arm boards or ``native``.
    """

    name: str
    found: str
    needed_for: str
    install: str
    required: bool


def doctor() -> tuple[ToolStatus, ...]:
    """The state of this machine: Python, its packages, then programs. Raises nothing."""
    states = tools.states()
    return (
        ToolStatus("python", platform.python_version(), "every command", "", True),
        *(_package(*package) for package in _PACKAGES),
        *(_program(tool, states[tool.name]) for tool in tools.TOOLS),
    )


def _package(name: str, needed_for: str, required: bool) -> ToolStatus:
    try:
        found, install = importlib.metadata.version(name), ""
    except importlib.metadata.PackageNotFoundError:
        found, install = "", f"pip install {name}"
    return ToolStatus(name, found, needed_for, install, required)


def _program(tool: tools.Tool, state: tools.ToolState) -> ToolStatus:
    install = f"apt-get install {' '.join(state.packages)}" if state.packages else ""
    return ToolStatus(tool.name, state.found, tool.needed_for, install, tool.required)
