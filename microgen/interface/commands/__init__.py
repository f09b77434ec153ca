"""The commands, one module each: they parse arguments, call the API once, and print the result."""

from __future__ import annotations

from collections.abc import Mapping

# Each is a module with configure(parser) and execute(args, console). The help of each is here, so
# that the list of all commands imports none of them.
COMMANDS: Mapping[str, str] = {
    "generate": "Generate a firmware project from one or more models.",
    "build": "Build a project to build/firmware.elf and firmware.map.",
    "verify": (
        "Compare a project's ELF with its manifest, parameters and board; build it first if needed."
    ),
    "run": "Build and verify a project, then run it in QEMU, natively or on a board.",
    "export": "Write a project's model for other firmware; equal projects give equal bytes.",
    "inspect": (
        "Show what is inside a model, a project, a model library, a firmware ELF or a module blob."
    ),
    "partition": "Show as text which code generator compiles which part of a model.",
    "plan": (
        "Show the memory plan of a model or of a project: peak, lower bound, gap, and each call."
    ),
    "boards": "List the boards, or describe a new one.",
    "ops": "List the supported operators.",
    "codegens": "List the available code generators.",
    "cmake": (
        "Print the folder for find_package(microgen), which adds networks to "
        "applications for Zephyr."
    ),
    "zoo": (
        "Generate, build, verify and run a list of models on boards; print the results by cause."
    ),
    "doctor": "Show which tools are installed, and how to install the others.",
    "help": "Show the help of a command, or a page of the documents.",
}
