"""Compiles a Relay module as C for the host in one step: without CMake, by one compiler run with
sanitizers.

The driver calls the entry point twice, by its calling convention, with buffers of their exact size
on the heap. AddressSanitizer finds an operator that reads or writes outside its tensors. The driver
finds one that writes to its input, and one whose second inference differs from its first.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microgen
from microgen.graph.ir.graph import Array
from microgen.project.firmware.compiled import Compiled
from microgen.relay import Expr, Function, IRModule
from tests.crt.executor.executor_graphs import EXECUTOR_SOURCES
from tests.support import runtimes
from tests.support.each_compiled import UNOPTIMIZED, each_compiled, quick_linker

CRT = Path(__file__).resolve().parents[2] / "crt"
# TVM's own suite combines interface-api and unpacked-api in these ways for the C runtime. The graph
# executor reads the same networks.
CONVENTIONS: dict[str, dict[str, Any]] = {
    "c": {"interface": "c"},
    "packed entry, unpacked operators": {"interface": "packed", "unpacked_api": True},
    "packed": {"interface": "packed"},
    "graph executor": {"executor": "graph"},
}
AHEAD_OF_TIME = [name for name in CONVENTIONS if name != "graph executor"]
EVERY_CONVENTION = pytest.mark.parametrize("convention", list(CONVENTIONS))
_FLAGS = ["-std=c99", *UNOPTIMIZED, "-Wall", "-Wextra", "-Werror", "-pedantic"]
_FLAGS += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# Times nodes in a debug run of the executor, which no test here calls.
_TIMER = """
#include "tvm/runtime/crt/platform.h"
tvm_crt_error_t TVMPlatformTimerStart(void)
{
    return kTvmErrorNoError;
}
tvm_crt_error_t TVMPlatformTimerStop(double *seconds)
{
    *seconds = 0.0;
    return kTvmErrorNoError;
}
"""

_DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {%(sizes)s};
enum { INPUTS = %(inputs)d, ALL = %(all)d };

static int infer(void **data)
{
%(call)s
}

int main(int count, char **paths)
{
    void *data[ALL], *first[ALL];
    FILE *given = fopen(paths[1], "rb"), *got = fopen(paths[2], "wb");
    int i, status;

    (void)count;
    for (i = 0; i < ALL; i++) {
        data[i] = memset(malloc(sizes[i]), 0xA5, sizes[i]);
        if (i < INPUTS && fread(data[i], sizes[i], 1, given) != 1) {
            return 2;
        }
        first[i] = memcpy(malloc(sizes[i]), data[i], sizes[i]);
    }
    status = infer(data);
    for (i = INPUTS; i < ALL; i++) {
        memcpy(first[i], data[i], sizes[i]);
        memset(data[i], 0x5A, sizes[i]);
        fwrite(first[i], sizes[i], 1, got);
    }
    if (status != 0 || infer(data) != 0) {
        return 3;
    }
    for (i = 0; i < ALL; i++) {
        if (memcmp(first[i], data[i], sizes[i]) != 0) {
            return 4;
        }
        free(first[i]);
        free(data[i]);
    }
    return fclose(given) + fclose(got);
}
"""


def module_of(source: Expr | IRModule | str) -> IRModule:
    """A module made from a function or from its text; a module is returned unchanged."""
    if isinstance(source, str):
        return microgen.relay.parse(source, "t.relay")
    return IRModule.from_expr(source) if isinstance(source, Function) else source


def compiled(source: Expr | IRModule | str, convention: str = "c", **options: Any) -> Compiled:
    """The source, compiled by ``compile_model`` for the host in a convention of ``CONVENTIONS``."""
    return microgen.compile_model(
        module_of(source), "native", **{**CONVENTIONS[convention], **options}
    )


def inferred(made: Compiled, folder: Path, inputs: Iterable[Array]) -> list[Array]:
    """The outputs of two equal inferences. Inputs and outputs are in the model's order."""
    made.files.write_to(folder)
    host = folder / "model" / "codegen" / "host"
    (folder / "unit.c").write_text(_unit(made, host))
    (folder / "in").write_bytes(b"".join(array.tobytes() for array in inputs))
    command = ["cc", *_FLAGS, f"-I{host / 'include'}", f"-I{host / 'src'}", f"-I{CRT / 'include'}"]
    command += [f"-I{CRT / 'src'}"] if made.program.runtime_modules else []
    command += [f"-Wa,-I{folder / 'model/executor-config/graph'}"]
    sources = [folder / "unit.c", *sorted((host / "src").glob("*.S")), *_external(host)]
    linked = each_compiled(command, sources, folder)
    if made.metadata.executor == "graph":
        linked += sorted(Path(_runtime().name).glob("*.o"))
    if made.program.runtime_modules:
        linked.append(runtimes.archive())
    command += [*quick_linker(), *map(str, linked), "-o", str(folder / "app")]
    subprocess.run(command, check=True)
    arguments = [str(folder / name) for name in ("app", "in", "out")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode} {done.stderr}"
    return _outputs(made, (folder / "out").read_bytes())


@functools.cache
def _runtime() -> tempfile.TemporaryDirectory[str]:
    """The graph executor's objects, compiled once for all tests of a process."""
    folder = tempfile.TemporaryDirectory()
    timer = Path(folder.name) / "timer.c"
    timer.write_text(_TIMER)
    command = ("cc", *_FLAGS, f"-I{CRT / 'include'}", f"-I{CRT / 'src'}")
    each_compiled(command, [*EXECUTOR_SOURCES, timer], Path(folder.name))
    return folder


def _external(host: Path) -> list[Path]:
    """The sources of code generators. They may rename what they define by macros, so each is
    compiled by itself."""
    return sorted(
        p for p in (host / "src").glob("*_lib*.c") if not p.stem.endswith(("_lib0", "_lib1"))
    )


def _unit(made: Compiled, host: Path) -> str:
    """The model's other sources and the driver as one translation unit."""
    program = made.program
    ports = [*program.inputs, *program.outputs]
    values = {
        "sizes": ", ".join(str(p.type.nbytes) for p in ports),
        "inputs": len(program.inputs),
        "all": len(ports),
        "call": _c_call(made) if made.manifest.options["interface"] == "c" else _packed_call(made),
    }
    own = sorted({*(host / "src").glob("*.c")} - {*_external(host)})
    sources = "".join(f'#include "{path.name}"\n' for path in own)
    return sources + _DRIVER % values


def _c_call(made: Compiled) -> str:
    program, name = made.program, f"tvmgen_{made.program.module}"
    count = len(program.inputs)
    lines = [f"    struct {name}_inputs inputs;", f"    struct {name}_outputs outputs;", ""]
    lines += [f"    inputs.{p.name} = data[{i}];" for i, p in enumerate(program.inputs)]
    lines += [f"    outputs.{p.name} = data[{i + count}];" for i, p in enumerate(program.outputs)]
    return "\n".join([*lines, f"    return {name}_run(&inputs, &outputs);"])


def _packed_call(made: Compiled) -> str:
    """C that calls the packed entry point with tensors described by the model's own metadata."""
    name = f"tvmgen_{made.program.module}"
    return f"""    DLTensor tensors[ALL];
    TVMValue values[ALL], found;
    int codes[ALL], code, i;
    const struct TVMMetadata *metadata;

    if ({name}_get_c_metadata(NULL, NULL, 0, &found, &code, NULL) != 0) {{
        return 5;
    }}
    metadata = found.v_handle;
    memset(tensors, 0, sizeof tensors);
    for (i = 0; i < ALL; i++) {{
        const struct TVMTensorInfo *info =
            i < INPUTS ? &metadata->inputs[i] : &metadata->outputs[i - INPUTS];
        tensors[i].data = data[i];
        tensors[i].device.device_type = kDLCPU;
        tensors[i].ndim = (int32_t)info->num_shape;
        tensors[i].dtype = info->dtype;
        tensors[i].shape = (int64_t *)info->shape;
        values[i].v_handle = &tensors[i];
        codes[i] = kTVMDLTensorHandle;
    }}
    return {name}_run(values, codes, ALL, NULL, NULL, NULL);"""


def _outputs(made: Compiled, found: bytes) -> list[Array]:
    arrays = []
    for port in made.program.outputs:
        flat = np.frombuffer(found[: port.type.nbytes], port.type.dtype.numpy)
        arrays.append(flat.reshape(port.type.shape))
        found = found[port.type.nbytes :]
    assert not found
    return arrays
