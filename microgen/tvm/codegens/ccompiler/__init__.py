"""The C code generator of TVM's guide "Bring Your Own Codegen": elementwise operators in C."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.compiler.codegens.external import CSource, ExternalCodegen, ExternalFunction
from microgen.relay.transform import Support
from microgen.target.board import Board
from microgen.tvm.codegens.ccompiler import operators, source
from microgen.tvm.codegens.ccompiler.operators import PREDICATES


class CCompiler(ExternalCodegen):
    """Elementwise operators in plain C, as TVM's guide generates them."""

    name = "ccompiler"
    support = Support("ccompiler", PREDICATES)

    def compile(
        self,
        functions: Sequence[ExternalFunction],
        board: Board,  # noqa: ARG002
    ) -> Sequence[CSource]:
        """One source file with all functions, and the macros that they use."""
        symbols = {function.symbol for function in functions}
        written = [source.written(function, symbols) for function in functions]
        used = {use for w in written for use in w.macros}
        includes = ["#include <string.h>"] if any(w.copies for w in written) else []
        parts = [*includes, *operators.definitions(used), *(w.code for w in written)]
        return [CSource(functions=tuple(w.function for w in written), code="\n\n".join(parts))]


CODEGEN = CCompiler()
