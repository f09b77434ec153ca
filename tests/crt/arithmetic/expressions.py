"""Evaluates C expressions on rows of arguments, each by a small program of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from microgen.base import resources
from microgen.graph.ir.graph import Array
from tests.kernels.conformance.conformance import SANITIZERS, WARNINGS, host_cc


def of_int32(*head: str) -> str:
    """A driver for expressions of the int32 ``a[0]`` to ``a[2]``. The lines ``head`` define and
    include what the expression needs."""
    return "\n".join(
        (
            *head,
            "#include <stdint.h>",
            "#include <stdio.h>",
            "int main(void)",
            "{",
            "    int32_t a[3];",
            "    while (fread(a, sizeof a, 1, stdin) == 1) {",
            "        const int32_t result = EXPRESSION;",
            "        (void)fwrite(&result, sizeof result, 1, stdout);",
            "    }",
            "    return 0;",
            "}",
            "",
        )
    )


def evaluated(driver: str, expression: str, rows: Array, folder: Path) -> Array:
    """An int32 for each row.

    ``driver`` is a C program that reads the rows, and contains the word EXPRESSION.
    """
    (folder / "driver.c").write_text(driver.replace("EXPRESSION", expression))
    include = f"-I{resources.folder('crt') / 'include'}"
    program = folder / "driver"
    command = [host_cc(), *WARNINGS, *SANITIZERS, include, str(folder / "driver.c")]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = subprocess.run([program], input=rows.tobytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, "<i4")
