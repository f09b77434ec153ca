"""A generated runner, linked with operators and hooks that print that they were called."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from microgen import planner
from microgen.planner.program.types import Device, PrimFunc, Program, Role
from microgen.project.emit import kernel_calls
from microgen.project.emit.model import emit
from microgen.project.emit.unit import EmitOptions, Unit
from tests.kernels.conformance.conformance import WARNINGS

_HEAD = """
#include "tvmgen_default.h"
#include "default_lib1.h"
#include <stdio.h>
#include <stdlib.h>

static int number, failing[8], status[8], failures;

static int32_t step(const char *who, const char *what)
{
    int i;
    number++;
    printf("%s%s\\n", who, what);
    for (i = 0; i < failures; i++) {
        if (failing[i] == number) {
            return status[i];
        }
    }
    return 0;
}
"""


def fallible(program: Program) -> Program:
    """The program, changed so that every operator may return an error."""
    functions = tuple(
        replace(f, body=tuple(replace(kernel, can_fail=True) for kernel in f.body))
        for f in program.functions
    )
    return replace(program, functions=functions)


def build(program: Program, folder: Path) -> Path:
    """Builds the program that runs the network once.

    Its arguments are numbers of calls, each followed by the status that the call returns. It prints
    every call, then run's status.
    """
    unit = Unit(program, planner.plan(program), EmitOptions("x.tflite"))
    emit(unit).write_to(folder / "model")
    host = folder / "model" / "model" / "codegen" / "host"
    (host / "src" / "default_note.h").touch()
    (folder / "stubs.c").write_text(_stubs(program))
    sources = [host / "src" / "default_lib0.c", host / "src" / "default_params.c"]
    sources += [*host.glob("src/*_memory.S"), folder / "stubs.c"]
    includes = [f"-I{host / 'include'}", f"-I{host / 'src'}"]
    command = ["cc", *WARNINGS, "-fsanitize=undefined", *includes]
    command += ["-o", str(folder / "stubs"), *map(str, sources)]
    subprocess.run(command, check=True)
    return folder / "stubs"


def run(stubs: Path, failing: Mapping[int, int]) -> tuple[list[str], int]:
    """The calls, and what run returned."""
    arguments = [str(n) for pair in failing.items() for n in pair]
    done = subprocess.run([stubs, *arguments], capture_output=True, text=True, check=True)
    *called, status = done.stdout.splitlines()
    return called, int(status)


def _stubs(program: Program) -> str:
    parts = [_HEAD, *map(_operator, program.functions), *map(_hooks, program.devices)]
    parts.append("int main(int argc, char **argv)\n{\n    int i;\n")
    for kind, ports in (("inputs", program.inputs), ("outputs", program.outputs)):
        parts += [f"    static uint8_t {kind}_{p.name}[{p.type.nbytes}];\n" for p in ports]
        fields = ", ".join(f".{p.name} = {kind}_{p.name}" for p in ports)
        parts.append(f"    struct tvmgen_default_{kind} {kind} = {{{fields}}};\n")
    if program.devices:
        parts += [f'    static char context_{d.name}[] = "{d.target}";\n' for d in program.devices]
        fields = ", ".join(f".{d.name} = context_{d.name}" for d in program.devices)
        parts.append(f"    struct tvmgen_default_devices devices = {{{fields}}};\n")
    parts.append(_TAIL.replace("@", ", &devices" if program.devices else ""))
    return "".join(parts)


_TAIL = """
    for (i = 1; i + 1 < argc && failures < 8; i += 2) {
        failing[failures] = atoi(argv[i]);
        status[failures++] = atoi(argv[i + 1]);
    }
    printf("%d\\n", (int)tvmgen_default_run(&inputs, &outputs@));
    return 0;
}
"""


def _operator(function: PrimFunc) -> str:
    declared = kernel_calls.declarations(function, function.name)
    used, context = [], '""'
    for p in kernel_calls.parameters(function):
        used.append(f"    (void){p.name if p else kernel_calls.STRUCT};\n")
        if p and p.role is Role.DEVICE:
            context = p.name
    body = "".join(used) + f'    printf("%s:", (const char *){context});\n'
    return (
        f"int32_t {function.name}({', '.join(declared)})\n{{\n{body}"
        f'    return step("{function.name}", "");\n}}\n'
    )


def _hooks(device: Device) -> str:
    names = ("Activate", "Open", "Close", "Deactivate")
    return "".join(
        f'int32_t {hook}(void *context)\n{{\n    return step(context, " {name}");\n}}\n'
        for hook, name in zip(device.hooks, names, strict=True)
    )
