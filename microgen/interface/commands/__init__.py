"""The commands, one module each: they parse arguments, call the API once, and print the result."""

from __future__ import annotations

# Each is a module with HELP, configure(parser) and execute(args, console).
COMMANDS = (
    "generate",
    "build",
    "verify",
    "run",
    "export",
    "inspect",
    "partition",
    "plan",
    "boards",
    "ops",
    "codegens",
    "cmake",
    "zoo",
    "doctor",
    "help",
)
